/* ChamferDistance: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_CHAMFER_DISTANCE_H_
#define MLUOPS_OP_CHAMFER_DISTANCE_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** For each point of two sets in the plane the nearest point of the other set.
 *
 *    d[b,n,m] = (x1 - x2)^2 + (y1 - y2)^2, each operation rounded to float (double for DOUBLE)
 *    dist1[b,n], idx1[b,n] = the least (d, m): of equal distances the lower m;  dist2[b,m], idx2[b,m] = the least (d,
 * n) A distance that is NaN or not below 1e10 counts for nothing; without any: 1e10 (HALF: Inf) and 0.
 *
 *  @param xyz1   T [B, N, 2], ARRAY; x, y.
 *  @param xyz2   T [B, M, 2], ARRAY.
 *  @param dist1  T [B, N], ARRAY; squared distances; overwritten.
 *  @param dist2  T [B, M], ARRAY; overwritten.
 *  @param idx1   INT32 [B, N], ARRAY; overwritten.
 *  @param idx2   INT32 [B, M], ARRAY; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. B, N or M = 0: BAD_PARAM. Strided tensors: NOT_SUPPORTED. Cost:
 *  at most 10*B*N*M flops; the cpu backend looks at the points nearby only.
 *  Source: mmcv's chamfer_distance, of Li et al., "Oriented RepPoints", 2022. */
mluOpStatus_t MLUOP_WIN_API mluOpExtChamferDistanceForward(mluOpHandle_t handle,
                                                           const mluOpTensorDescriptor_t xyz1_desc, const void* xyz1,
                                                           const mluOpTensorDescriptor_t xyz2_desc, const void* xyz2,
                                                           const mluOpTensorDescriptor_t dist1_desc, void* dist1,
                                                           const mluOpTensorDescriptor_t dist2_desc, void* dist2,
                                                           const mluOpTensorDescriptor_t idx1_desc, void* idx1,
                                                           const mluOpTensorDescriptor_t idx2_desc, void* idx2);

/** Gradient of mluOpExtChamferDistanceForward, where the indices are constants.
 *
 *    every n with m = idx1[b,n]: g = 2 * grad_dist1[b,n] * (xyz1[b,n,:] - xyz2[b,m,:]) is added to grad_xyz1[b,n,:] and
 *    subtracted from grad_xyz2[b,m,:];  every m with n = idx2[b,m] likewise, the other way round
 *
 *  @param xyz1, xyz2               T [B, N, 2] and [B, M, 2], ARRAY.
 *  @param idx1, idx2               INT32 [B, N] and [B, M], ARRAY; outside the other set: adds nothing.
 *  @param grad_dist1, grad_dist2   T [B, N] and [B, M], ARRAY.
 *  @param grad_xyz1, grad_xyz2     T [B, N, 2] and [B, M, 2], ARRAY; overwritten.
 *  Dtypes and statuses: those of the forward function. Cost: 8*B*(N+M) additions, in the same order for every number of
 *  threads. */
mluOpStatus_t MLUOP_WIN_API mluOpExtChamferDistanceBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz1_desc, const void* xyz1,
    const mluOpTensorDescriptor_t xyz2_desc, const void* xyz2, const mluOpTensorDescriptor_t idx1_desc,
    const void* idx1, const mluOpTensorDescriptor_t idx2_desc, const void* idx2,
    const mluOpTensorDescriptor_t grad_dist1_desc, const void* grad_dist1,
    const mluOpTensorDescriptor_t grad_dist2_desc, const void* grad_dist2, const mluOpTensorDescriptor_t grad_xyz1_desc,
    void* grad_xyz1, const mluOpTensorDescriptor_t grad_xyz2_desc, void* grad_xyz2);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_CHAMFER_DISTANCE_H_ */
