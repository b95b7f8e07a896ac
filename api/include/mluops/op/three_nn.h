/* ThreeNN: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_THREE_NN_H_
#define MLUOPS_OP_THREE_NN_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Bytes of device memory that mluOpThreeNNForward wants: those of known, for a transposed copy.
 *
 *  @param known_desc      T [B, M, 3], ARRAY.
 *  @param workspace_size  The size in bytes.
 *  BAD_PARAM: an argument is NULL; known is not of rank 3. */
mluOpStatus_t MLUOP_WIN_API mluOpGetThreeNNForwardWorkspaceSize(const mluOpHandle_t handle,
                                                                const mluOpTensorDescriptor_t known_desc,
                                                                size_t* workspace_size);

/** The three nearest of M known points for each of N unknown ones.
 *
 *    d[b,n,m] = (ux - kx)^2 + (uy - ky)^2 + (uz - kz)^2, each operation rounded to float (double for DOUBLE), summed in
 *               this order
 *    dist2[b,n,:], idx[b,n,:] = the three least (d, m) in increasing order: of equal distances the lower m first
 *    A distance that is NaN or not below 1e40 counts for nothing. A neighbour that is missing: idx 0 and dist2 1e40,
 *    which is Inf in all dtypes but DOUBLE.
 *
 *  @param unknown         T [B, N, 3], ARRAY; x, y, z.
 *  @param known           T [B, M, 3], ARRAY.
 *  @param workspace       workspace_size bytes; may be NULL when workspace_size is 0. The cpu backend leaves it alone.
 *  @param workspace_size  As mluOpGetThreeNNForwardWorkspaceSize says, or less.
 *  @param dist2           T [B, N, 3], ARRAY; squared distances; overwritten.
 *  @param idx             INT32 [B, N, 3], ARRAY; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. B or N = 0: BAD_PARAM. M = 0: SUCCESS, nothing written. Strided
 *  tensors: NOT_SUPPORTED. Cost: 8*B*N*M flops as written down; the cpu backend looks at the points nearby only.
 *  Source: Qi et al., "PointNet++", 2017; mmcv's three_nn. */
mluOpStatus_t MLUOP_WIN_API mluOpThreeNNForward(const mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc,
                                                const void* unknown, const mluOpTensorDescriptor_t known_desc,
                                                const void* known, void* workspace, const size_t workspace_size,
                                                const mluOpTensorDescriptor_t dist2_desc, void* dist2,
                                                const mluOpTensorDescriptor_t idx_desc, void* idx);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_THREE_NN_H_ */
