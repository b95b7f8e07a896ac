/* RoiAwarePool3d: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_ROIAWARE_POOL3D_H_
#define MLUOPS_OP_ROIAWARE_POOL3D_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Bytes of device memory that mluOpRoiAwarePool3dForward wants: an INT32 for each pair of a box and a point, and a
 *  transposed copy of pts and pts_feature.
 *
 *  The descriptors are those of the call. BAD_PARAM: an argument is NULL; rank not 2. */
mluOpStatus_t MLUOP_WIN_API mluOpGetRoiAwarePool3dForwardWorkspaceSize(mluOpHandle_t handle,
                                                                       const mluOpTensorDescriptor_t rois_desc,
                                                                       const mluOpTensorDescriptor_t pts_desc,
                                                                       const mluOpTensorDescriptor_t pts_feature_desc,
                                                                       size_t* workspace_size);

/** Pools the features of the points in each upright box, voxel by voxel of the box.
 *
 *    a point is in a box by the rule of mluOpExtPointsInBoxesPart (z of a box is the centre of its bottom); there, with
 *    lx, ly in the box's frame, its voxel is
 *    vx = (lx + dx / 2) / (dx / out_x), vy likewise, vz = (z - bz) / (dz / out_z), cut to whole numbers in
 *    [0, out - 1], NaN to 0; each operation rounded to float (double for DOUBLE)
 *    pts_idx_of_voxels[n,vx,vy,vz,:] = count, then the count lowest indices of its points, at most max_pts_each_voxel -
 * 1; zeros behind pool_method 0: pooled_features = the maximum over these points, argmax = its point, of equal ones the
 * first; 0 and -1 where there is none that is greater than -Inf pool_method 1: pooled_features = the mean, 0 where
 * there is no point; argmax = 0
 *
 *  @param pool_method          0: maximum, 1: mean.
 *  @param boxes_num, pts_num, channels, max_pts_each_voxel, out_x, out_y, out_z  N, P, C, S, X, Y, Z; X, Y, Z at most
 * 256.
 *  @param rois                 T [N, 7]; x, y, z, dx, dy, dz, rotation about z.
 *  @param pts                  T [P, 3].
 *  @param pts_feature          T [P, C].
 *  @param workspace            workspace_size bytes; may be NULL when workspace_size is 0. The cpu backend leaves it
 * alone.
 *  @param argmax               INT32 [N, X, Y, Z, C]; overwritten.
 *  @param pts_idx_of_voxels    INT32 [N, X, Y, Z, S]; overwritten.
 *  @param pooled_features      T [N, X, Y, Z, C]; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. Any layout. An empty tensor: BAD_PARAM. Strided tensors:
 *  NOT_SUPPORTED. Cost: 12*N*P flops, and an addition or comparison for each feature of each point kept.
 *  Source: Shi et al., "Part-A2", 2020; mmcv's roiaware_pool3d. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAwarePool3dForward(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int pts_num, const int channels,
    const mluOpTensorDescriptor_t rois_desc, const void* rois, const mluOpTensorDescriptor_t pts_desc, const void* pts,
    const mluOpTensorDescriptor_t pts_feature_desc, const void* pts_feature, void* workspace, size_t workspace_size,
    const int max_pts_each_voxel, const int out_x, const int out_y, const int out_z,
    const mluOpTensorDescriptor_t argmax_desc, void* argmax, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    void* pts_idx_of_voxels, const mluOpTensorDescriptor_t pooled_features_desc, void* pooled_features);

/** Gradient of mluOpRoiAwarePool3dForward.
 *
 *    pool_method 0: grad_out[n,x,y,z,c] is added to grad_in[argmax[n,x,y,z,c],c]
 *    pool_method 1: grad_out[n,x,y,z,c] / max(count, 1) is added to grad_in[p,c] of all `count` points p of the voxel
 *
 *  @param pts_idx_of_voxels  INT32 [N, X, Y, Z, S], as the forward function gave it; a count is cut to [0, S - 1].
 *  @param argmax             INT32 [N, X, Y, Z, C], likewise. Indices outside [0, P-1] add to nothing.
 *  @param grad_out           T [N, X, Y, Z, C].
 *  @param grad_in            T [P, C]; overwritten.
 *  Other arguments, dtypes and statuses: those of the forward function. Sums in the same order for every number of
 *  threads. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAwarePool3dBackward(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int out_x, const int out_y, const int out_z,
    const int channels, const int max_pts_each_voxel, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    const void* pts_idx_of_voxels, const mluOpTensorDescriptor_t argmax_desc, const void* argmax,
    const mluOpTensorDescriptor_t grad_out_desc, const void* grad_out, const mluOpTensorDescriptor_t grad_in_desc,
    void* grad_in);

/** mluOpGetRoiAwarePool3dForwardWorkspaceSize by the older spelling, which mmcv's MLU code calls. */
mluOpStatus_t MLUOP_WIN_API mluOpGetRoiawarePool3dForwardWorkspaceSize(mluOpHandle_t handle,
                                                                       const mluOpTensorDescriptor_t rois_desc,
                                                                       const mluOpTensorDescriptor_t pts_desc,
                                                                       const mluOpTensorDescriptor_t pts_feature_desc,
                                                                       size_t* workspace_size);

/** mluOpRoiAwarePool3dForward by the older spelling. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiawarePool3dForward(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int pts_num, const int channels,
    const mluOpTensorDescriptor_t rois_desc, const void* rois, const mluOpTensorDescriptor_t pts_desc, const void* pts,
    const mluOpTensorDescriptor_t pts_feature_desc, const void* pts_feature, void* workspace, size_t workspace_size,
    const int max_pts_each_voxel, const int out_x, const int out_y, const int out_z,
    const mluOpTensorDescriptor_t argmax_desc, void* argmax, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    void* pts_idx_of_voxels, const mluOpTensorDescriptor_t pooled_features_desc, void* pooled_features);

/** mluOpRoiAwarePool3dBackward by the older spelling. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiawarePool3dBackward(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int out_x, const int out_y, const int out_z,
    const int channels, const int max_pts_each_voxel, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    const void* pts_idx_of_voxels, const mluOpTensorDescriptor_t argmax_desc, const void* argmax,
    const mluOpTensorDescriptor_t grad_out_desc, const void* grad_out, const mluOpTensorDescriptor_t grad_in_desc,
    void* grad_in);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_ROIAWARE_POOL3D_H_ */
