/* ThreeInterpolate: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_THREE_INTERPOLATE_H_
#define MLUOPS_OP_THREE_INTERPOLATE_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Interpolates N points from three of M neighbours each.
 *
 *    output[b,c,n] = sum over j=0..2 of weights[b,n,j] * features[b,c,indices[b,n,j]]
 *    An index outside [0,M-1] drops that neighbour only.
 *
 *  @param features  T [B, C, M], ARRAY.
 *  @param indices   INT32 [B, N, 3], ARRAY.
 *  @param weights   T [B, N, 3], ARRAY; not normalised.
 *  @param output    T [B, C, N], ARRAY; overwritten.
 *  B, C or N = 0: BAD_PARAM. M = 0: SUCCESS, nothing written. Strided tensors: NOT_SUPPORTED. Cost: 6*B*C*N flops.
 *  Source: Qi et al., "PointNet++", 2017; three_interpolate design document. */
mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void* features,
    const mluOpTensorDescriptor_t indices_desc, const void* indices, const mluOpTensorDescriptor_t weights_desc,
    const void* weights, const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradient of mluOpThreeInterpolateForward (scatter-add).
 *
 *    grad_features[b,c,m] = sum over (n,j) with indices[b,n,j] = m of weights[b,n,j] * grad_output[b,c,n]
 *
 *  @param grad_output    T [B, C, N], ARRAY.
 *  @param indices        INT32 [B, N, 3], ARRAY.
 *  @param weights        T [B, N, 3], ARRAY.
 *  @param grad_features  T [B, C, M], ARRAY; overwritten.
 *  B, C, M or N = 0: BAD_PARAM. Strided tensors: NOT_SUPPORTED. Cost: 6*B*C*N flops. */
mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void* indices, const mluOpTensorDescriptor_t weights_desc,
    const void* weights, const mluOpTensorDescriptor_t grad_features_desc, void* grad_features);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_THREE_INTERPOLATE_H_ */
