/* BallQuery: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_BALL_QUERY_H_
#define MLUOPS_OP_BALL_QUERY_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** The first nsample points, in the order of their index, in the ball round each centre.
 *
 *    d[b,m,n] = (cx - x)^2 + (cy - y)^2 + (cz - z)^2, each operation rounded to float (double for DOUBLE), summed in
 * this order n is in the ball of m if d = 0, or min_radius^2 <= d < max_radius^2 (the squares in float) idx[b,m,:] =
 * the nsample lowest such n in increasing order; fewer: filled up with the first of them; none: zeros
 *
 *  @param new_xyz     T [B, M, 3], ARRAY: the centres; x, y, z.
 *  @param xyz         T [B, N, 3], ARRAY: the points.
 *  @param min_radius  >= 0.
 *  @param max_radius  >= 0.
 *  @param nsample     >= 0.
 *  @param idx         INT32 [B, M, nsample], ARRAY; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. B or M = 0: BAD_PARAM. N or nsample = 0: SUCCESS, nothing
 *  written. Strided tensors: NOT_SUPPORTED. Cost: at most 8*B*M*N flops. The device leaves the row of an empty ball as
 * it was: initialise idx to zeros to get the same there. Source: Qi et al., "PointNet++", 2017; mmcv's ball_query. */
mluOpStatus_t MLUOP_WIN_API mluOpBallQuery(mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc,
                                           const void* new_xyz, const mluOpTensorDescriptor_t xyz_desc, const void* xyz,
                                           const float min_radius, const float max_radius, const int nsample,
                                           const mluOpTensorDescriptor_t idx_desc, void* idx);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_BALL_QUERY_H_ */
