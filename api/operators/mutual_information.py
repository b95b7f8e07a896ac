"""MutualInformation."""
from api.generate.describe import *

family("MutualInformation", "k2's mutual_information; mluOp's mutual_information.", numpy=False,
       letters={"s1": "S + 1", "t1": "T + 1"}, hooks="""
/// Each row of opt_boundary, where there is one: 0 <= begin <= end <= length, for symbols and frames.
Status has_boundaries_inside(const TensorArg& opt_boundary, std::int64_t symbols, std::int64_t frames);
""")

SHAPE = shape("mluopsMutualInformationShape", "b, s, t",
              "MutualInformation: px [b,s,t+1], py [b,s+1,t], opt_boundary [b,4] (INT64), p [b,s+1,t+1], ans [b].")

SAY = {"b": "the batch of px", "s": "the symbols of px", "t1": "the frames of py and one", "s1": "the symbols of px and one",
       "t": "the frames of py", "4": "first symbol, first frame, last symbol, last frame"}
DERIVE = {"s1": "s + 1", "t1": "t + 1"}
INPUTS = """
    in px T [b, s, t1] -- logarithms of the probabilities of a symbol
    in py T [b, s1, t] -- likewise of going on to the next frame
    in? opt_boundary INT64 [b, 4] -- first symbol, first frame, last symbol, last frame of each sequence, 0 <= first <=
        -- last <= S (T), else BAD_PARAM. Absent (descriptor and data NULL): 0, 0, S, T.
    """
TYPES = "B = 0: SUCCESS, nothing written. Source: k2's mutual_information_cuda.cu."

getter("mluOpGetMutualInformationForwardWorkspaceSize", "mutual_information_forward", "px py opt_boundary p ans",
       "handle descs(px py p ans) size")

operator("mutual_information_forward", "mluOpMutualInformationForward", 105, doc=f"""The logarithm of the probability of all paths through a lattice of symbols and frames.

  p[b, s0, t0] = 0
  p[b, s, t] = log(exp(p[b, s-1, t] + px[b, s-1, t]) + exp(p[b, s, t-1] + py[b, s, t-1])), terms outside left out
  ans[b] = p[b, s1, t1], where opt_boundary[b] = s0, t0, s1, t1

Computed in double, rounded once. {TYPES}""", args=INPUTS + """
    out p T [b, s1, t1] -- elements between the boundaries are written, others keep what they hold
    workspace
    out ans T [b]
    """,
    order="descs ranks layouts dtypes sizes(px py opt_boundary p ans) both(opt_boundary) dense done_if_empty(ans) "
          "data_where_needed(px py) data(p ans) overlap hook(has_boundaries_inside opt_boundary s t)",
    shape=SHAPE, keys="b s t boundary={p.opt_boundary != nullptr ? 1 : 0}", floats="FLOAT", say=SAY, derive=DERIVE)

getter("mluOpGetMutualInformationBackwardWorkspaceSize", "mutual_information_backward",
       "px py opt_boundary p ans_grad overwrite_ans_grad", "handle descs(px py p ans_grad) size")

operator("mutual_information_backward", "mluOpMutualInformationBackward", 106, doc=f"""The gradients of px and py.

  p_grad[b, s1, t1] = ans_grad[b]
  px_grad[b, s, t] = p_grad[b, s+1, t] * exp(p[b, s, t] + px[b, s, t] - p[b, s+1, t])
  py_grad[b, s, t] = p_grad[b, s, t+1] * exp(p[b, s, t] + py[b, s, t] - p[b, s, t+1])
  p_grad[b, s, t] = px_grad[b, s, t] + py_grad[b, s, t], terms outside left out
  An exponential that is not finite counts as 0, and p below -1e30 as -1e30.

Computed in double from p as it is, rounded once. S = T = 0: SUCCESS, nothing written. {TYPES}""", args=INPUTS + """
    in p T [b, s1, t1] -- that of the forward call
    out ans_grad T [b] -- its numbers are written with overwrite_ans_grad alone
    const bool overwrite_ans_grad -- whether ans_grad becomes p_grad[b, s0, t0], which is ans_grad but for rounding
    workspace
    out px_grad T like px -- 0 outside of the boundaries
    out py_grad T like py -- likewise
    """,
    order="descs ranks layouts dtypes sizes(px py opt_boundary p ans_grad px_grad py_grad) both(opt_boundary) dense "
          "done_if_empty(ans_grad) done_if(s == 0 && t == 0) data_where_needed(px py px_grad py_grad) data(p ans_grad) "
          "overlap hook(has_boundaries_inside opt_boundary s t)",
    shape=SHAPE, keys="b s t boundary={p.opt_boundary != nullptr ? 1 : 0} overwrite={p.overwrite_ans_grad}",
    floats="FLOAT", say=SAY, derive=DERIVE,
    members="shape, px, py, opt_boundary, p, ans_grad, px_grad, py_grad, int32_t overwrite_ans_grad",
    notes={"opt_boundary": "nullptr: 0, 0, s, t"})
