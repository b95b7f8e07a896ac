/* GatherPoints and GroupPoints: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_GATHER_POINTS_H_
#define MLUOPS_OP_GATHER_POINTS_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Takes the features of M of N points.
 *
 *    output[b,c,m] = points[b,c,idx[b,m]], and 0 where idx[b,m] is outside [0,N-1]
 *
 *  @param points  T [B, C, N], ARRAY.
 *  @param idx     INT32 [B, M], ARRAY.
 *  @param output  T [B, C, M], ARRAY; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. output empty: SUCCESS, nothing to do. N = 0 otherwise:
 * BAD_PARAM. Strided tensors: NOT_SUPPORTED. Cost: B*C*M copies. Source: Qi et al., "PointNet++", 2017; mmcv's
 * gather_points. */
mluOpStatus_t MLUOP_WIN_API mluOpExtGatherPoints(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                                 const void* points, const mluOpTensorDescriptor_t idx_desc,
                                                 const void* idx, const mluOpTensorDescriptor_t output_desc,
                                                 void* output);

/** Gradient of mluOpExtGatherPoints (scatter-add).
 *
 *    grad_points[b,c,n] = sum over m with idx[b,m] = n of grad_output[b,c,m]
 *
 *  @param grad_output  T [B, C, M], ARRAY.
 *  @param idx          INT32 [B, M], ARRAY; outside [0,N-1]: adds to nothing.
 *  @param grad_points  T [B, C, N], ARRAY; overwritten.
 *  grad_points empty: SUCCESS, nothing to do. M = 0 otherwise: BAD_PARAM. Strided tensors: NOT_SUPPORTED. Cost: B*C*M
 *  additions. */
mluOpStatus_t MLUOP_WIN_API mluOpExtGatherPointsBackward(mluOpHandle_t handle,
                                                         const mluOpTensorDescriptor_t grad_output_desc,
                                                         const void* grad_output,
                                                         const mluOpTensorDescriptor_t idx_desc, const void* idx,
                                                         const mluOpTensorDescriptor_t grad_points_desc,
                                                         void* grad_points);

/** Takes the features of the points of each group: mluOpExtGatherPoints with M = P*S.
 *
 *    output[b,c,p,s] = points[b,c,idx[b,p,s]], and 0 where idx[b,p,s] is outside [0,N-1]
 *
 *  @param points  T [B, C, N], ARRAY.
 *  @param idx     INT32 [B, P, S], ARRAY: S points of P groups, for instance from mluOpBallQuery.
 *  @param output  T [B, C, P, S], ARRAY; overwritten.
 *  Dtypes, statuses and cost: those of mluOpExtGatherPoints.
 *  Source: Qi et al., "PointNet++", 2017; mmcv's grouping_operation. */
mluOpStatus_t MLUOP_WIN_API mluOpExtGroupPoints(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                                const void* points, const mluOpTensorDescriptor_t idx_desc,
                                                const void* idx, const mluOpTensorDescriptor_t output_desc,
                                                void* output);

/** Gradient of mluOpExtGroupPoints (scatter-add).
 *
 *    grad_points[b,c,n] = sum over (p,s) with idx[b,p,s] = n of grad_output[b,c,p,s]
 *
 *  @param grad_output  T [B, C, P, S], ARRAY.
 *  @param idx          INT32 [B, P, S], ARRAY; outside [0,N-1]: adds to nothing.
 *  @param grad_points  T [B, C, N], ARRAY; overwritten.
 *  Dtypes, statuses and cost: those of mluOpExtGatherPointsBackward. */
mluOpStatus_t MLUOP_WIN_API mluOpExtGroupPointsBackward(mluOpHandle_t handle,
                                                        const mluOpTensorDescriptor_t grad_output_desc,
                                                        const void* grad_output, const mluOpTensorDescriptor_t idx_desc,
                                                        const void* idx, const mluOpTensorDescriptor_t grad_points_desc,
                                                        void* grad_points);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_GATHER_POINTS_H_ */
