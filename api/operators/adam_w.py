"""AdamW."""
from api.generate.describe import *

family("AdamW", "mluOp's adam_w; BMTrain's adam_cuda.cu.", numpy=False, includes="common/op/adam_w_form.h", hooks="""
/// Every rule but the handle's.
Status check_adam_w_arguments(const AdamWArgs& args);
std::int64_t count_of(const TensorArg& t);
""")

prose("""
/** What mluOpSetAdamWDescAttr sets. */
typedef enum {
  MLUOP_ADAMW_WEIGHT_DECAY = 0,    /**< float, 0 at first */
  MLUOP_ADAMW_GRAD_SCALE = 1,      /**< float, 1 at first: gradients are divided by it */
  MLUOP_ADAMW_USE_NESTEROV = 2,    /**< bool, no effect, as on the device */
  MLUOP_ADAMW_NEED_REMOVE_NAN = 3, /**< bool, false at first */
} mluOpAdamWDescAttribute_t;

typedef struct mluOpAdamWStruct* mluOpAdamWDescriptor_t;

/** Creates a descriptor with the values above. BAD_PARAM: adamw_desc is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateAdamWDescriptor(mluOpAdamWDescriptor_t* adamw_desc);
/** Sets an attribute. BAD_PARAM: an argument is NULL, attr is none of the above, size_in_bytes is not that of its type. */
mluOpStatus_t MLUOP_WIN_API mluOpSetAdamWDescAttr(mluOpAdamWDescriptor_t adamw_desc, mluOpAdamWDescAttribute_t attr,
                                                  const void* buf, const size_t size_in_bytes);
/** Destroys a descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyAdamWDescriptor(mluOpAdamWDescriptor_t adamw_desc);""")

SHAPE = struct("mluopsAdamWShape", """
  mluOpDataType_t dtype; /* of grad: BFLOAT16; FLOAT with remove_nan */
  int64_t count;
  int32_t remove_nan; /* param_h is the step, from which bias1 and bias2 follow */
  float lr, beta1, beta2, bias1, bias2, epsilon, weight_decay, grad_scale;
""", doc="""AdamW: param, momentum, velocity, grad of `count` elements, param_h too or, with remove_nan, of one.""")

operator("adam_w", "mluOpAdamW", 107, doc="""One step of AdamW on every element.

  g = grad / grad_scale
  momentum = beta1 * momentum + (1 - beta1) * g
  velocity = beta2 * velocity + (1 - beta2) * g^2
  param = param - lr * (momentum / bias1) / (sqrt(velocity / bias2) + epsilon) - lr * weight_decay * param
  param_h = param, rounded to nearest even

With NEED_REMOVE_NAN param_h is the number of the step: bias1 = 1 - beta1^step, bias2 = 1 - beta2^step; it is increased
by one. An element whose three new numbers are all Inf or NaN keeps its old ones.

@param adamw_desc  weight_decay, grad_scale and need_remove_nan.
@param param       FLOAT, read and written.
@param param_h     BFLOAT16, overwritten, or absent (descriptor and data NULL). NEED_REMOVE_NAN: FLOAT [1].
@param momentum    FLOAT, read and written.
@param velocity    FLOAT, read and written.
@param grad        BFLOAT16; NEED_REMOVE_NAN: FLOAT.
@param lr          a number.
@param beta1       0 to 1; beta2 likewise.
@param bias1       a number: 1 - beta1^step; bias2 likewise. NEED_REMOVE_NAN: no effect.
@param epsilon     > 0.
Tensors have the same shape, any rank and any layout. Computed in float, each operation rounded; bitwise reproducible. An
empty tensor: BAD_PARAM. Strided tensors: NOT_SUPPORTED.""", args="""
    host mluOpAdamWDescriptor_t adamw_desc
    out param FLOAT any [n]
    out? param_h BFLOAT16 like param
    out momentum FLOAT like param
    out velocity FLOAT like param
    in grad BFLOAT16 like param as void*
    const float lr
    const float beta1
    const float beta2
    const float bias1
    const float bias2
    const float epsilon
    """, order="hook(check_adam_w_arguments)", shape=SHAPE, problem_doc="", lead="grad",
    derive={"count": "count_of(param)"}, fill={
        "remove_nan": "adamw_desc->need_remove_nan ? 1 : 0", "weight_decay": "static_cast<float>(adamw_desc->weight_decay)",
        "grad_scale": "static_cast<float>(adamw_desc->grad_scale)"},
    members="shape, param, param_h, momentum, velocity, grad",
    notes={"param_h": "nullptr: not wanted"},
    keys="n=count nan=remove_nan lr beta1 beta2 bias1 bias2 eps=epsilon decay=weight_decay scale=grad_scale"
         " half={p.param_h != nullptr ? 1 : 0}")
