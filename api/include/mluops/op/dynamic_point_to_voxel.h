/* DynamicPointToVoxel: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_DYNAMIC_POINT_TO_VOXEL_H_
#define MLUOPS_OP_DYNAMIC_POINT_TO_VOXEL_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Bytes of device memory that mluOpDynamicPointToVoxelForward wants: three INT32 for each point, to sort them.
 *
 *  @param feats_desc      T [N, C].
 *  @param coors_desc      INT32 [N, 3].
 *  @param workspace_size  The size in bytes.
 *  BAD_PARAM: an argument is NULL; feats or coors is not of rank 2. */
mluOpStatus_t MLUOP_WIN_API mluOpGetDynamicPointToVoxelForwardWorkspaceSize(mluOpHandle_t handle,
                                                                            const mluOpTensorDescriptor_t feats_desc,
                                                                            const mluOpTensorDescriptor_t coors_desc,
                                                                            size_t* workspace_size);

/** Reduces the features of the points of each voxel.
 *
 *    The voxels are the different rows of coors without a negative number, in increasing order (first number first);
 *    V of them.
 *    voxel_coors[v,:]       = voxel v
 *    voxel_points_count[v]  = number of points with coors[n,:] = voxel_coors[v,:]
 *    point2voxel_map[n]     = v, or -1 where coors[n,:] has a negative number
 *    voxel_feats[v,c]       = sum, mean or maximum of feats[n,c] over the points of v; a maximum passes over NaN, and
 * is -Inf where there is nothing else voxel_num[0]           = V Rows v >= V of voxel_feats, voxel_coors and
 * voxel_points_count: zeros.
 *
 *  @param reduce_type         MLUOP_REDUCE_DMAX or _DMEAN; EXTENDED also _DSUM.
 *  @param feats               T [N, C].
 *  @param coors               INT32 [N, 3]. Left alone, though not const: a device marks points without voxel in it.
 *  @param workspace           workspace_size bytes; may be NULL when workspace_size is 0. The cpu backend leaves it
 * alone.
 *  @param workspace_size      As mluOpGetDynamicPointToVoxelForwardWorkspaceSize says, or less.
 *  @param voxel_feats         T [M, C], 1 <= M <= N; overwritten. More voxels than M: NOT_SUPPORTED, nothing written.
 *  @param voxel_coors         INT32 [M, 3]; overwritten.
 *  @param point2voxel_map     INT32 [N]; overwritten.
 *  @param voxel_points_count  INT32 [M]; overwritten.
 *  @param voxel_num           INT32 [1]; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE and BFLOAT16. Any layout. feats empty: SUCCESS, nothing written. Strided
 * tensors: NOT_SUPPORTED. Cost: N*C additions and sorting N points. Source: mmcv's dynamic_scatter. */
mluOpStatus_t MLUOP_WIN_API mluOpDynamicPointToVoxelForward(
    const mluOpHandle_t handle, const mluOpReduceMode_t reduce_type, const mluOpTensorDescriptor_t feats_desc,
    const void* feats, const mluOpTensorDescriptor_t coors_desc, void* coors, void* workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t voxel_feats_desc, void* voxel_feats,
    const mluOpTensorDescriptor_t voxel_coors_desc, void* voxel_coors,
    const mluOpTensorDescriptor_t point2voxel_map_desc, void* point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, void* voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, void* voxel_num);

/** Bytes of device memory that mluOpDynamicPointToVoxelBackward wants: an INT32 for each number of voxel_feats.
 *
 *  The arguments are those of the call. BAD_PARAM: one is NULL; voxel_feats is not of rank 2. */
mluOpStatus_t MLUOP_WIN_API mluOpGetDynamicPointToVoxelBackwardWorkspaceSize(
    const mluOpHandle_t handle, const mluOpReduceMode_t reduce_type,
    const mluOpTensorDescriptor_t grad_voxel_feats_desc, const mluOpTensorDescriptor_t feats_desc,
    const mluOpTensorDescriptor_t voxel_feats_desc, const mluOpTensorDescriptor_t point2voxel_map_desc,
    const mluOpTensorDescriptor_t voxel_points_count_desc, const mluOpTensorDescriptor_t voxel_num_desc,
    size_t* workspace_size);

/** Gradient of mluOpDynamicPointToVoxelForward.
 *
 *    v = point2voxel_map[n]; a point whose v is not in [0, min(M, voxel_num[0]) - 1] gets zeros
 *    sum:  grad_feats[n,c] = grad_voxel_feats[v,c]
 *    mean: grad_feats[n,c] = grad_voxel_feats[v,c] / voxel_points_count[v]
 *    max:  grad_feats[n,c] = grad_voxel_feats[v,c] where n is the first point of v with feats[n,c] = voxel_feats[v,c],
 *          else 0
 *
 *  @param reduce_type         MLUOP_REDUCE_DMAX; EXTENDED also _DMEAN and _DSUM.
 *  @param grad_voxel_feats    T [M, C], M <= N.
 *  @param feats               T [N, C].
 *  @param voxel_feats         T [M, C], as the forward function gave it.
 *  @param point2voxel_map     INT32 [N], likewise.
 *  @param voxel_points_count  INT32 [M], likewise.
 *  @param voxel_num           INT32 [1], likewise.
 *  @param workspace           workspace_size bytes; may be NULL when workspace_size is 0. The cpu backend leaves it
 * alone.
 *  @param grad_feats          T [N, C]; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE and BFLOAT16. Any layout. grad_feats empty: SUCCESS, nothing written. Strided
 *  tensors: NOT_SUPPORTED. Cost: N*C copies or comparisons. */
mluOpStatus_t MLUOP_WIN_API mluOpDynamicPointToVoxelBackward(
    const mluOpHandle_t handle, const mluOpReduceMode_t reduce_type,
    const mluOpTensorDescriptor_t grad_voxel_feats_desc, const void* grad_voxel_feats,
    const mluOpTensorDescriptor_t feats_desc, const void* feats, const mluOpTensorDescriptor_t voxel_feats_desc,
    const void* voxel_feats, const mluOpTensorDescriptor_t point2voxel_map_desc, const void* point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, const void* voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, const void* voxel_num, void* workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t grad_feats_desc, void* grad_feats);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_DYNAMIC_POINT_TO_VOXEL_H_ */
