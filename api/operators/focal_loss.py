"""FocalLossSigmoid and FocalLossSoftmax."""
from api.generate.describe import *

family("FocalLossSigmoid and FocalLossSoftmax",
       "mluOpFocalLossSigmoidForward and Backward of MLU-OPS 1.11; mmcv's sigmoid_focal_loss and softmax_focal_loss.", hooks="""
/// Each target of the sigmoid loss is a class or the background, with a weight a class.
Status sigmoid_targets(const TensorArg& target, const TensorArg& weight, std::int64_t classes);
/// Each target of the softmax loss is a class or negative.
Status softmax_targets(const TensorArg& target, std::int64_t classes);
""")

shape("mluopsFocalLossShape", "n, c; float alpha, gamma")

prose("""
/** What becomes of the elements of a loss. */
typedef enum {
  MLUOP_LOSS_REDUCTION_NONE = 0,
  MLUOP_LOSS_REDUCTION_SUM = 1,
  MLUOP_LOSS_REDUCTION_MEAN = 2,
} mluOpLossReduction_t;
""")

SAY = {"n": "the rows of the input", "c": "the classes of the input"}
MODES = {"no_reduction": rule("reduction == MLUOP_LOSS_REDUCTION_NONE",
                              "reduction: wanted LOSS_REDUCTION_NONE, got {reduction}", "NOT_SUPPORTED"),
         "gamma_": rule("gamma.exact >= 0", "gamma: wanted >= 0, got {gamma.exact}", "NOT_SUPPORTED", wrong="gamma=-1")}
KEYS = "n c alpha gamma weight?"
FILL = {"weight": "weight.desc != nullptr && !is_empty(weight) ? weight.data : nullptr"}


def order(first, lead, result, targets):
    """The weight is looked at by itself."""
    three = f"{lead} target {result}"
    return (f"descs {first} layouts({three}) ranks({three}) dtypes({three}) sizes({three}) layouts(weight) "
            f"ranks(weight) dtypes(weight) sizes(weight) strides(weight) dense({three}) indexable({lead}.1) "
            f"done_if_empty({lead}) data({three}) data(weight) overlap hook({targets})")


operator("focal_loss_sigmoid_forward", "mluOpFocalLossSigmoidForward", 21, doc="""Focal loss of C independent classes.

  output[n,c] = -alpha (1-p)^gamma log(p)        where target[n] = c,
                -(1-alpha) p^gamma log(1-p)      elsewhere;   p = sigmoid(input[n,c])
  times weight[target[n]] where there is a weight. Logarithms are at least log(FLT_MIN).

input empty: SUCCESS, nothing to do. Cost: N*C exponentials and logarithms. Source: Lin et al., "Focal Loss for
Dense Object Detection", ICCV 2017; mmcv's sigmoid_focal_loss; docs/op/focal_loss.md.""", args="""
    const mluOpComputationPreference_t prefer -- FAST or HIGH_PRECISION, else NOT_SUPPORTED
    const mluOpLossReduction_t reduction -- NONE, else NOT_SUPPORTED
    in input T [n, c] -- logits
    in target INT32 [n] -- a class; with weight in [0,C-1], without at most C, else BAD_PARAM: C and negative ones are
        -- background, no class of the row is positive
    in? weight T [c] where weight.desc != nullptr && !is_empty(weight)
        -- an empty tensor or NULL with a NULL descriptor: none
    const float alpha
    const float gamma -- >= 0, else NOT_SUPPORTED
    out output:result T like input py=output
    """,
    order=order("fast no_reduction gamma_", "input", "output", "sigmoid_targets target weight c"),
    keys=KEYS, problem="mluopsFocalLossProblem", say=SAY, fill=FILL,
    problem_doc="""Both losses, both directions: input [n,c], target [n], weight [c]; result [n,c], of the softmax loss [n].
Targets are at most c; of the softmax loss, and where there is a weight, they are below c. Sigmoid with a weight:
they are not negative either.""",
    notes={"input": "sigmoid: logits; softmax: probabilities", "weight": "NULL: none", "result": "output or grad_input",
           "exact_alpha": "alpha; in DOUBLE what the caller may have given more exactly", "exact_gamma": "likewise"},
    rules={**MODES, "fast": rule("prefer == MLUOP_COMPUTATION_FAST || prefer == MLUOP_COMPUTATION_HIGH_PRECISION",
                                 "prefer: wanted COMPUTATION_FAST or COMPUTATION_HIGH_PRECISION, got {prefer}",
                                 "NOT_SUPPORTED")},
    called="sigmoid_focal_loss", fixed={"prefer": "1", "reduction": "0"})

operator("focal_loss_sigmoid_backward", "mluOpFocalLossSigmoidBackward", 22, doc="""Derivative of each element of mluOpFocalLossSigmoidForward with respect to its logit:

  grad_input[n,c] = -alpha (1-p)^gamma (1 - p - gamma p log(p))          where target[n] = c,
                    -(1-alpha) p^gamma (gamma (1-p) log(1-p) - p)        elsewhere; times the weight""", args="""
    const mluOpComputationPreference_t prefer -- HIGH_PRECISION, else NOT_SUPPORTED
    const mluOpLossReduction_t reduction
    in input T [n, c]
    in target INT32 [n]
    in? weight T [c] where weight.desc != nullptr && !is_empty(weight)
    const float alpha
    const float gamma -- in [0,10000], else NOT_SUPPORTED
    out grad_input:result T like input py=grad_input
    """,
    order=order("precise no_reduction gamma_", "input", "grad_input", "sigmoid_targets target weight c"),
    keys=KEYS, problem="mluopsFocalLossProblem", say=SAY, fill=FILL,
    rules={**MODES, "precise": rule("prefer == MLUOP_COMPUTATION_HIGH_PRECISION",
                                    "prefer: wanted COMPUTATION_HIGH_PRECISION, got {prefer}", "NOT_SUPPORTED"),
           "gamma_": rule("gamma.exact >= 0 && gamma.exact <= 10000",
                          "gamma: wanted >= 0 and <= 10000.000000, got {gamma.exact}", "NOT_SUPPORTED",
                          wrong="gamma=10001")},
    called="sigmoid_focal_loss_backward", fixed={"prefer": "1", "reduction": "0"})

operator("focal_loss_softmax_forward", "mluOpExtFocalLossSoftmaxForward", 23, doc="""Focal loss of one class out of C.

  output[n] = -alpha (1-p)^gamma log(p),   p = softmax[n,target[n]], the logarithm at least log(FLT_MIN);
  times weight[target[n]] where there is a weight; 0 where target[n] is negative.

softmax empty: SUCCESS, nothing to do. Source: mmcv's softmax_focal_loss; docs/op/focal_loss.md.""", args="""
    in softmax:input T [n, c] py=softmax -- probabilities
    in target INT32 [n] -- a class, or negative; C and more: BAD_PARAM
    in? weight T [c] where weight.desc != nullptr && !is_empty(weight)
        -- an empty tensor or NULL with a NULL descriptor: none
    const float alpha
    const float gamma -- >= 0, else NOT_SUPPORTED
    out output:result T like target py=output
    """,
    order=order("gamma_", "softmax", "output", "softmax_targets target c"),
    keys=KEYS, problem="mluopsFocalLossProblem", say=SAY, fill=FILL,
    rules=MODES, called="softmax_focal_loss")

operator("focal_loss_softmax_backward", "mluOpExtFocalLossSoftmaxBackward", 24, doc="""Derivative of mluOpExtFocalLossSoftmaxForward with respect to the logits that softmax is the softmax of:

  b[n]            = alpha (-(1-p)^gamma + gamma (1-p)^(gamma-1) p log(p)), times the weight; the second term is 0
                    where p is 1
  grad_input[n,c] = b[n] ((1 where c = target[n], else 0) - softmax[n,c]), 0 where target[n] is negative""", args="""
    in softmax:input T [n, c] py=softmax
    in target INT32 [n]
    in? weight T [c] where weight.desc != nullptr && !is_empty(weight)
    const float alpha
    const float gamma
    out grad_input:result T like softmax py=grad_input
    """,
    order=order("gamma_", "softmax", "grad_input", "softmax_targets target c"),
    keys=KEYS, problem="mluopsFocalLossProblem", say=SAY, fill=FILL,
    rules=MODES, called="softmax_focal_loss_backward")
