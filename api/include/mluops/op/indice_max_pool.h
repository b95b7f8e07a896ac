/* IndiceMaxPool: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_INDICE_MAX_POOL_H_
#define MLUOPS_OP_INDICE_MAX_POOL_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Maximum pooling over the pairs that mluOpGetIndicePairs found.
 *
 *    features_out[o,c] = the greatest of 0 and features[i,c] over all pairs (i, o); it passes over NaN
 *    The pairs of k are indice_pairs[k,0,p], indice_pairs[k,1,p], p < indice_num[k]. A pair with an index outside its
 *    tensor counts nothing.
 *
 *  @param features      T [L, C].
 *  @param indice_pairs  INT32 [K, 2, P].
 *  @param indice_num    K numbers of pairs in the host's memory, each at most P.
 *  @param features_out  T [M, C]; overwritten.
 *  T: HALF, FLOAT; EXTENDED also DOUBLE and BFLOAT16. Any layout. A tensor empty: SUCCESS, nothing written. Strided
 *  tensors: NOT_SUPPORTED. Cost: C comparisons a pair. Source: mmcv's indice_maxpool. */
mluOpStatus_t MLUOP_WIN_API mluOpExtIndiceMaxPoolForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void* features,
    const mluOpTensorDescriptor_t indice_pairs_desc, const void* indice_pairs, const int64_t indice_num[],
    const mluOpTensorDescriptor_t features_out_desc, void* features_out);

/** Gradient of mluOpExtIndiceMaxPoolForward.
 *
 *    input_grad[i,c] = sum of output_grad[o,c] over the pairs (i, o) with features_out[o,c] = features[i,c]
 *
 *  @param features      T [L, C].
 *  @param features_out  T [M, C], as the forward function gave it.
 *  @param output_grad   T [M, C].
 *  @param indice_pairs  INT32 [K, 2, P].
 *  @param indice_num    As in the forward function.
 *  @param input_grad    T [L, C]; overwritten.
 *  T, empty and strided tensors: as in the forward function. Cost: C comparisons and additions a pair. */
mluOpStatus_t MLUOP_WIN_API mluOpExtIndiceMaxPoolBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void* features,
    const mluOpTensorDescriptor_t features_out_desc, const void* features_out,
    const mluOpTensorDescriptor_t output_grad_desc, const void* output_grad,
    const mluOpTensorDescriptor_t indice_pairs_desc, const void* indice_pairs, const int64_t indice_num[],
    const mluOpTensorDescriptor_t input_grad_desc, void* input_grad);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_INDICE_MAX_POOL_H_ */
