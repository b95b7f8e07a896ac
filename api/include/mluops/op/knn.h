/* Knn: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_KNN_H_
#define MLUOPS_OP_KNN_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** The k nearest of N points for each of M centres.
 *
 *    d[b,m,n] = (cx - x)^2 + (cy - y)^2 + (cz - z)^2, each operation rounded to float (double for DOUBLE), summed in
 *               this order
 *    dist2[b,m,:], idx[b,m,:] = the k least (d, n) in increasing order: of equal distances the lower n first
 *    A distance that is NaN or not below 1e10 counts for nothing. A neighbour that is missing: idx 0 and dist2 1e10
 *    (HALF: Inf).
 *
 *  @param xyz      T [B, N, 3], ARRAY: the points; x, y, z.
 *  @param new_xyz  T [B, M, 3], ARRAY: the centres.
 *  @param k        >= 1.
 *  @param idx      INT32 [B, M, k], ARRAY; overwritten.
 *  @param dist2    T [B, M, k], ARRAY; squared distances; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. B or M = 0: BAD_PARAM. N = 0: SUCCESS, nothing written. Strided
 *  tensors: NOT_SUPPORTED. Cost: at most 8*B*M*N flops; the cpu backend looks at the points nearby only.
 *  Source: mmcv's knn. */
mluOpStatus_t MLUOP_WIN_API mluOpExtKnn(mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz_desc, const void* xyz,
                                        const mluOpTensorDescriptor_t new_xyz_desc, const void* new_xyz, const int k,
                                        const mluOpTensorDescriptor_t idx_desc, void* idx,
                                        const mluOpTensorDescriptor_t dist2_desc, void* dist2);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_KNN_H_ */
