/* FurthestPointSample: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_FURTHEST_POINT_SAMPLE_H_
#define MLUOPS_OP_FURTHEST_POINT_SAMPLE_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Picks M of N points, each the furthest from those picked before it.
 *
 *    idx[b,0] = 0; t[n] = 1e10
 *    for j = 1..M-1: t[n] = min(t[n], d(n, idx[b,j-1])); idx[b,j] = the n with the greatest t[n]
 *    d(n,k) = (xn - xk)^2 + (yn - yk)^2 + (zn - zk)^2, each operation rounded to float (double for DOUBLE), summed in
 *    this order; a d that is NaN leaves t alone.
 *    Of equal t the n comes first whose n mod T is least with its bits in reverse, then the lowest n; T is the greatest
 *    power of 2 up to min(N, 1024): the order of mmcv's reduction. More points than there are (M > N) repeat.
 *
 *  @param points  T [B, N, 3], ARRAY; x, y, z.
 *  @param idx     INT32 [B, M], ARRAY; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. idx empty: SUCCESS, nothing to do. N = 0 otherwise: BAD_PARAM.
 *  Strided tensors: NOT_SUPPORTED. Cost: 9*B*N*M flops as written down; the cpu backend skips points far from the new
 * one. Source: Qi et al., "PointNet++", 2017; mmcv's furthest_point_sample. */
mluOpStatus_t MLUOP_WIN_API mluOpExtFurthestPointSample(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                                        const void* points, const mluOpTensorDescriptor_t idx_desc,
                                                        void* idx);

/** As mluOpExtFurthestPointSample, with distances given: d(n,k) = distances[b,k,n].
 *
 *  @param distances  T [B, N, N], ARRAY; need not be symmetric. Where no t[n] is above -1, the point is 0.
 *  @param idx        INT32 [B, M], ARRAY; overwritten.
 *  Dtypes and statuses: those of mluOpExtFurthestPointSample. Cost: B*N*M comparisons.
 *  Source: Yang et al., "3DSSD", 2020; mmcv's furthest_point_sample_with_dist. */
mluOpStatus_t MLUOP_WIN_API mluOpExtFurthestPointSampleWithDist(mluOpHandle_t handle,
                                                                const mluOpTensorDescriptor_t distances_desc,
                                                                const void* distances,
                                                                const mluOpTensorDescriptor_t idx_desc, void* idx);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_FURTHEST_POINT_SAMPLE_H_ */
