/* FocalLossSigmoid and FocalLossSoftmax: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_FOCAL_LOSS_H_
#define MLUOPS_OP_FOCAL_LOSS_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Speed or precision; every value gives the same numbers here. */
typedef enum {
  MLUOP_COMPUTATION_FAST = 0,
  MLUOP_COMPUTATION_HIGH_PRECISION = 1,
  MLUOP_COMPUTATION_ULTRAHIGH_PRECISION = 2,
} mluOpComputationPreference_t;

/** What becomes of the elements of a loss. */
typedef enum {
  MLUOP_LOSS_REDUCTION_NONE = 0,
  MLUOP_LOSS_REDUCTION_SUM = 1,
  MLUOP_LOSS_REDUCTION_MEAN = 2,
} mluOpLossReduction_t;

/** Focal loss of C independent classes.
 *
 *    output[n,c] = -alpha (1-p)^gamma log(p)        where target[n] = c,
 *                  -(1-alpha) p^gamma log(1-p)      elsewhere;   p = sigmoid(input[n,c])
 *    times weight[target[n]] where there is a weight. Logarithms are at least log(FLT_MIN).
 *
 *  @param prefer     FAST or HIGH_PRECISION, else NOT_SUPPORTED.
 *  @param reduction  NONE, else NOT_SUPPORTED.
 *  @param input      T [N, C], ARRAY: logits.
 *  @param target     INT32 [N], ARRAY: a class; with weight in [0,C-1], without at most C, else BAD_PARAM: C and
 *                    negative ones are background, no class of the row is positive.
 *  @param weight     T [C], ARRAY; an empty tensor or NULL with a NULL descriptor: none.
 *  @param gamma      >= 0, else NOT_SUPPORTED.
 *  @param output     T [N, C], ARRAY; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. input empty: SUCCESS, nothing to do. Strided tensors:
 *  NOT_SUPPORTED. Cost: N*C exponentials and logarithms.
 *  Source: Lin et al., "Focal Loss for Dense Object Detection", ICCV 2017; mmcv's sigmoid_focal_loss;
 *  docs/op/focal_loss.md. */
mluOpStatus_t MLUOP_WIN_API mluOpFocalLossSigmoidForward(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpLossReduction_t reduction,
    const mluOpTensorDescriptor_t input_desc, const void* input, const mluOpTensorDescriptor_t target_desc,
    const void* target, const mluOpTensorDescriptor_t weight_desc, const void* weight, const float alpha,
    const float gamma, const mluOpTensorDescriptor_t output_desc, void* output);

/** Derivative of each element of mluOpFocalLossSigmoidForward with respect to its logit:
 *
 *    grad_input[n,c] = -alpha (1-p)^gamma (1 - p - gamma p log(p))          where target[n] = c,
 *                      -(1-alpha) p^gamma (gamma (1-p) log(1-p) - p)        elsewhere; times the weight
 *
 *  @param prefer      HIGH_PRECISION, else NOT_SUPPORTED.
 *  @param gamma       in [0,10000], else NOT_SUPPORTED.
 *  @param grad_input  T [N, C], ARRAY; overwritten.
 *  The rest: that of mluOpFocalLossSigmoidForward. */
mluOpStatus_t MLUOP_WIN_API mluOpFocalLossSigmoidBackward(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpLossReduction_t reduction,
    const mluOpTensorDescriptor_t input_desc, const void* input, const mluOpTensorDescriptor_t target_desc,
    const void* target, const mluOpTensorDescriptor_t weight_desc, const void* weight, const float alpha,
    const float gamma, const mluOpTensorDescriptor_t grad_input_desc, void* grad_input);

/** Focal loss of one class out of C.
 *
 *    output[n] = -alpha (1-p)^gamma log(p),   p = softmax[n,target[n]], the logarithm at least log(FLT_MIN);
 *    times weight[target[n]] where there is a weight; 0 where target[n] is negative.
 *
 *  @param softmax  T [N, C], ARRAY: probabilities.
 *  @param target   INT32 [N], ARRAY: a class, or negative; C and more: BAD_PARAM.
 *  @param weight   T [C], ARRAY; an empty tensor or NULL with a NULL descriptor: none.
 *  @param gamma    >= 0, else NOT_SUPPORTED.
 *  @param output   T [N], ARRAY; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. softmax empty: SUCCESS, nothing to do. Strided tensors:
 *  NOT_SUPPORTED. Source: mmcv's softmax_focal_loss; docs/op/focal_loss.md. */
mluOpStatus_t MLUOP_WIN_API mluOpExtFocalLossSoftmaxForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t softmax_desc, const void* softmax,
    const mluOpTensorDescriptor_t target_desc, const void* target, const mluOpTensorDescriptor_t weight_desc,
    const void* weight, const float alpha, const float gamma, const mluOpTensorDescriptor_t output_desc, void* output);

/** Derivative of mluOpExtFocalLossSoftmaxForward with respect to the logits that softmax is the softmax of:
 *
 *    b[n]            = alpha (-(1-p)^gamma + gamma (1-p)^(gamma-1) p log(p)), times the weight; the second term is 0
 *                      where p is 1
 *    grad_input[n,c] = b[n] ((1 where c = target[n], else 0) - softmax[n,c]), 0 where target[n] is negative
 *
 *  @param grad_input  T [N, C], ARRAY; overwritten.
 *  The rest: that of mluOpExtFocalLossSoftmaxForward. */
mluOpStatus_t MLUOP_WIN_API
mluOpExtFocalLossSoftmaxBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t softmax_desc, const void* softmax,
                                 const mluOpTensorDescriptor_t target_desc, const void* target,
                                 const mluOpTensorDescriptor_t weight_desc, const void* weight, const float alpha,
                                 const float gamma, const mluOpTensorDescriptor_t grad_input_desc, void* grad_input);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_FOCAL_LOSS_H_ */
