"""SyncBatchNorm."""
from api.generate.describe import *

family("SyncBatchNorm", "mluOp's sync_batch_norm; PyTorch's batch_norm_stats and the functions beside it.", numpy=False,
       letters={"n": "..., C", "processes": "P"}, hooks="""
/// x has layout NHWC, NDHWC, NLC or NC and its rank: channels last.
Status has_channels_last(const TensorArg& x);
/// t has the layout of x.
Status has_layout_of(const TensorArg& t, const TensorArg& x);
/// What belongs to channels: FLOAT, DOUBLE beside x of DOUBLE.
Status has_channel_dtype(const TensorArg& t, const TensorArg& x);
/// An optional tensor: absent, or FLOAT or DOUBLE likewise, [channels], with data.
Status has_channel_form(const TensorArg& t, const TensorArg& x, std::int64_t channels);
/// An output is there exactly if `wanted`, else it is not looked at.
Status is_wanted(const TensorArg& t, bool wanted, const TensorArg& x, std::int64_t channels);
std::int64_t channels_of(const TensorArg& x);
std::int64_t rows_of(const TensorArg& x, std::int64_t channels);
""")

SHAPE = shape("mluopsSyncBatchNormShape", "rows, c",
              "SyncBatchNorm: x [rows,c], of whatever rank; what belongs to channels is [c] and FLOAT, DOUBLE where "
              "x is DOUBLE.")
GATHER_SHAPE = struct("mluopsSyncBatchNormGatherShape", """
  mluOpDataType_t dtype; /* of moving_mean, moving_var and count_all */
  int64_t processes, c;
  float momentum, eps;
""", doc="""Statistics of several processes: mean_all, invstd_all [processes,c], count_all [processes].""")
STATS_SHAPE = shape("mluopsSyncBatchNormStatsShape", "rows, c; float eps")

C = {"c": "channels_of(x)", "rows": "rows_of(x, c)"}
X = "layout NHWC, NDHWC, NLC or NC: channels last"
ABSENT = "or absent (descriptor and data NULL)"
TYPES = """S: FLOAT; beside x of DOUBLE DOUBLE. x without elements: SUCCESS, nothing written. Results are bitwise reproducible at
any thread count."""
SAY = {"c": "the channels of x"}


def channels(names):
    return " ".join(f"hook(has_channel_dtype {name} x)" for name in names.split())


STATS = ("numbers descs hook(has_channels_last x) layouts(mean invstd) ranks(mean invstd) dtypes(x) "
         + channels("mean invstd") + " sizes(mean invstd) dense done_if_empty(x) data overlap")
STATS_DOC = f"""
  mean[c] = the sum over rows of x[:, c] / rows
  invstd[c] = 1 / sqrt(the sum over rows of (x[:, c] - mean[c])^2 / rows + eps)

"""
STATS_PARTS = dict(order=STATS, shape=STATS_SHAPE, keys="rows c eps", problem="mluopsSyncBatchNormStatsProblem",
                   check="sync_batch_norm_stats", derive=C, say=SAY)

getter("mluOpGetSyncBatchNormStatsWorkspaceSize", "sync_batch_norm_stats", "x", "handle descs(x) size")

operator("sync_batch_norm_stats", "mluOpSyncBatchNormStats_v2", 99, doc=f"""Mean and inverse standard deviation of each channel of this process's batch.
{STATS_DOC}
{TYPES}""", args=f"""
    in x T any [n] -- {X}
    workspace void* workspace, size_t workspace_size
    const float eps >= 0
    out mean S [c]
    out invstd S [c]
    """, **STATS_PARTS)

operator("sync_batch_norm_stats", "mluOpSyncBatchNormStats", 99, doc="""mluOpSyncBatchNormStats_v2 without a workspace.""",
         args="""
    in x T any [n]
    const float eps >= 0
    out mean S [c]
    out invstd S [c]
    """, **STATS_PARTS)

operator("sync_batch_norm_gather_stats", "mluOpSyncBatchNormGatherStatsWithCounts", 100, doc=f"""Joins the statistics of several processes, and moves the averages that inference uses.

  N = the sum of count_all; mean = the sum over p of count_all[p] * mean_all[p] / N
  var = the sum over p of count_all[p] * (1 / invstd_all[p]^2 - eps + (mean_all[p] - mean)^2) / N
  invstd = 1 / sqrt(var + eps)
  moving_mean = (1 - momentum) * moving_mean + momentum * mean
  moving_var = (1 - momentum) * moving_var + momentum * var * N / (N - 1)

S: FLOAT; beside T of DOUBLE DOUBLE. Computed in double. Without elements: SUCCESS, nothing written.""", args=f"""
    in mean_all S any [processes, c]
    in invstd_all S any [processes, c]
    out? moving_mean T [c] -- old numbers are read, new ones are written; {ABSENT} with moving_var
    out? moving_var T [c] -- likewise: old numbers are read, new ones are written
    float momentum number
    float eps >= 0 -- that of mluOpSyncBatchNormStats_v2
    in count_all T [processes] -- rows of each process
    out mean S [c]
    out invstd S [c]
    """,
    order="numbers descs ranks layouts(moving_mean moving_var count_all mean invstd) dtypes(count_all moving_mean moving_var) "
          + " ".join(f"hook(has_channel_dtype {name} count_all)" for name in "mean_all invstd_all mean invstd".split())
          + " sizes(mean_all invstd_all count_all moving_mean moving_var mean invstd) both(moving_mean) both(moving_var) "
          "together dense done_if_empty(mean_all count_all) data overlap",
    shape=GATHER_SHAPE, keys="processes c momentum eps moving={p.moving_mean != nullptr ? 1 : 0}", lead="count_all",
    problem="mluopsSyncBatchNormGatherStatsProblem",
    say={"processes": "the rows of mean_all", "c": "the channels of mean_all"},
    rules={"together": rule("(moving_mean.desc == nullptr) == (moving_var.desc == nullptr)",
                            "moving_var: wanted it and moving_mean, or neither, got one")})

operator("sync_batch_norm_elemt", "mluOpSyncBatchNormElemt", 101, doc=f"""y = (x - mean) * invstd * filter + bias, channel by channel.

{TYPES}""", args=f"""
    in x T any [n] -- {X}
    in mean S [c]
    in invstd S [c]
    in? filter S [c] -- {ABSENT}: 1
    in? bias S [c] -- {ABSENT}: 0
    out y T like x -- layout of x
    """,
    order="descs hook(has_channels_last x) hook(has_layout_of y x) layouts(mean invstd) ranks(mean invstd) dtypes(x y) "
          + channels("mean invstd") + " sizes(mean invstd) hook(has_channel_form filter x c) "
          "hook(has_channel_form bias x c) dense done_if_empty(x) data overlap",
    shape=SHAPE, keys="rows c filter? bias?", derive=C, say=SAY,
    problem="mluopsSyncBatchNormElemtProblem")

REDUCE_DOC = f"""
  sum_dy[c] = the sum over rows of dz[:, c]; sum_dy_xmu[c] = the sum over rows of dz[:, c] * (x[:, c] - mean[c])
  dfilter[c] = sum_dy_xmu[c] * invstd[c]; dbias[c] = sum_dy[c]

"""
REDUCE = dict(
    order="descs hook(has_channels_last x) hook(has_layout_of dz x) layouts(mean invstd) ranks(mean invstd) dtypes(x dz) "
          + channels("mean invstd") + " sizes(mean invstd) hook(is_wanted dfilter needs_input_grad1 x c) "
          "hook(is_wanted dbias needs_input_grad2 x c) hook(is_wanted sum_dy needs_input_grad0 x c) "
          "hook(is_wanted sum_dy_xmu needs_input_grad0 x c) dense(dz x mean invstd) done_if_empty(x) data overlap",
    shape=SHAPE, derive=C, say=SAY, lead="x", check="sync_batch_norm_backward_reduce",
    problem="mluopsSyncBatchNormBackwardReduceProblem",
    keys="rows c sums={p.sum_dy != nullptr ? 1 : 0} dfilter? dbias?",
    fill={"dfilter": "needs_input_grad1 ? data_of<void>(dfilter) : nullptr",
          "dbias": "needs_input_grad2 ? data_of<void>(dbias) : nullptr",
          "sum_dy": "needs_input_grad0 ? data_of<void>(sum_dy) : nullptr",
          "sum_dy_xmu": "needs_input_grad0 ? data_of<void>(sum_dy_xmu) : nullptr"})
REDUCE_OUTPUTS = """
    out? dfilter S [c] -- its elements are written if needs_input_grad1, else it may be absent
    out? dbias S [c] -- its elements are written if needs_input_grad2, else it may be absent
    out? sum_dy S [c] -- its elements are written if needs_input_grad0, else it may be absent
    out? sum_dy_xmu S [c] -- likewise: its elements are written if needs_input_grad0, else it may be absent
    const bool needs_input_grad0
    const bool needs_input_grad1
    const bool needs_input_grad2
    """
REDUCE_INPUTS = f"""
    in dz T any [n] -- layout of x
    in x T like dz -- {X}
    in mean S [c]
    in invstd S [c]
    """

getter("mluOpGetSyncBatchNormBackwardReduceWorkspaceSize", "sync_batch_norm_backward_reduce", "x",
       "handle descs(x) size")

operator("sync_batch_norm_backward_reduce", "mluOpSyncBatchNormBackwardReduce_v2", 102, doc=f"""The sums over this process's batch that gradients need.
{REDUCE_DOC}
{TYPES}""", args=REDUCE_INPUTS + "workspace void* workspace, size_t workspace_size" + REDUCE_OUTPUTS, **REDUCE)

operator("sync_batch_norm_backward_reduce", "mluOpSyncBatchNormBackwardReduce", 102,
         doc="""mluOpSyncBatchNormBackwardReduce_v2 without a workspace.""", args=REDUCE_INPUTS + REDUCE_OUTPUTS, **REDUCE)

alias("mluOpGetSyncBatchnormBackwardReduceWorkspaceSize", "mluOpGetSyncBatchNormBackwardReduceWorkspaceSize",
      """mluOpGetSyncBatchNormBackwardReduceWorkspaceSize by the older spelling.""")
alias("mluOpSyncBatchnormBackwardReduce_v2", "mluOpSyncBatchNormBackwardReduce_v2",
      """mluOpSyncBatchNormBackwardReduce_v2 by the older spelling.""")
alias("mluOpSyncBatchnormBackwardReduce", "mluOpSyncBatchNormBackwardReduce",
      """mluOpSyncBatchNormBackwardReduce by the older spelling.""")

ELEMT = dict(shape=SHAPE, derive=C, say={**SAY, "processes": "counts"}, lead="x",
             problem="mluopsSyncBatchNormBackwardElemtProblem")


def backward_elemt(sums, count=""):
    return ("descs hook(has_channels_last x) hook(has_layout_of diff_y x) hook(has_layout_of diff_x x) "
            f"layouts(mean invstd {sums}{count}) ranks(mean invstd {sums}{count}) dtypes(x diff_y diff_x{count}) "
            + channels(f"mean invstd {sums}") + f" sizes(mean invstd {sums}) "
            "hook(has_channel_form filter x c) dense done_if_empty(x) data overlap")


ELEMT_INPUTS = f"""
    in diff_y T any [n] -- layout of x
    in x T like diff_y -- {X}
    in mean S [c]
    in invstd S [c]
    in? filter S [c] -- {ABSENT}: 1
    """
operator("sync_batch_norm_backward_elemt", "mluOpSyncBatchNormBackwardElemt", 103, doc=f"""The gradient of x.

  diff_x = (diff_y - mean_dy - (x - mean) * invstd^2 * mean_dy_xmu) * invstd * filter

{TYPES}""", args=ELEMT_INPUTS + """
    in mean_dy:sum_dy S [c] -- the sums of mluOpSyncBatchNormBackwardReduce_v2 of all processes, by their rows
    in mean_dy_xmu:sum_dy_xmu S [c] -- likewise
    out diff_x T like diff_y -- layout of x
    """, order=backward_elemt("mean_dy mean_dy_xmu"), keys="rows c filter? processes",
    fill={"count": "nullptr", "processes": "0"},
    members="shape, diff_y, x, mean, invstd, filter, sum_dy, sum_dy_xmu, const int32_t* count, int64_t processes, "
            "diff_x",
    notes={"filter": "nullptr: 1", "sum_dy": "by the sum of count; of mluOpSyncBatchNormBackwardElemt means",
           "count": "[processes]", "processes": "0: sum_dy and sum_dy_xmu are means"}, **ELEMT)

operator("sync_batch_norm_backward_elemt_v2", "mluOpSyncBatchNormBackwardElemtV2", 104, doc=f"""mluOpSyncBatchNormBackwardElemt with sums in the place of means: mean_dy = sum_dy / the sum of count.

{TYPES}""", args=ELEMT_INPUTS + """
    in sum_dy S [c] -- the sums of mluOpSyncBatchNormBackwardReduce_v2 of all processes
    in sum_dy_xmu S [c] -- likewise
    in count INT32 [processes] -- rows of each process
    out diff_x T like diff_y -- layout of x
    """, order=backward_elemt("sum_dy sum_dy_xmu", " count"), keys="rows c filter? processes", **ELEMT)
