/* RoiPointPool3d: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_ROIPOINT_POOL3D_H_
#define MLUOPS_OP_ROIPOINT_POOL3D_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Bytes of device memory that mluOpRoiPointPool3d wants: those of points and point_features, for transposed copies.
 *
 *  The numbers and descriptors are those of the call. BAD_PARAM: an argument is NULL, and what BAD_PARAM is there. */
mluOpStatus_t MLUOP_WIN_API mluOpGetRoiPointPool3dWorkspaceSize(
    mluOpHandle_t handle, const int batch_size, const int pts_num, const int boxes_num, const int feature_in_len,
    const int sampled_pts_num, const mluOpTensorDescriptor_t points_desc,
    const mluOpTensorDescriptor_t point_features_desc, const mluOpTensorDescriptor_t boxes3d_desc,
    const mluOpTensorDescriptor_t pooled_features_desc, const mluOpTensorDescriptor_t pooled_empty_flag_desc,
    size_t* size);

/** Coordinates and features of the first S points in each upright box.
 *
 *    p_0 < p_1 < ... < p_(n-1): the indices of the points in box m, by the rule of mluOpExtPointsInBoxesPart (z of a
 * box is the centre of its bottom); n is cut at S pooled_features[b,m,s,:] = points[b,p,:], point_features[b,p,:]  with
 * p = p_(s mod n);  zeros where n = 0 pooled_empty_flag[b,m] = 1 where n = 0, else 0
 *
 *  @param batch_size, pts_num, boxes_num, feature_in_len, sampled_pts_num  B, N, M, C, S.
 *  @param points             T [B, N, 3]; x, y, z.
 *  @param point_features     T [B, N, C].
 *  @param boxes3d            T [B, M, 7]; x, y, z, dx, dy, dz, rotation about z.
 *  @param workspace          workspace_size bytes; may be NULL when workspace_size is 0. The cpu backend leaves it
 * alone.
 *  @param workspace_size     As mluOpGetRoiPointPool3dWorkspaceSize says, or less.
 *  @param pooled_features    T [B, M, S, 3 + C]; overwritten.
 *  @param pooled_empty_flag  INT32 [B, M]; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. Any layout. An empty tensor: BAD_PARAM. Strided tensors:
 *  NOT_SUPPORTED. Cost: at most 12*B*N*M flops and B*M*S*(3+C) copies. Source: mmcv's roipoint_pool3d. */
mluOpStatus_t MLUOP_WIN_API
mluOpRoiPointPool3d(mluOpHandle_t handle, const int batch_size, const int pts_num, const int boxes_num,
                    const int feature_in_len, const int sampled_pts_num, const mluOpTensorDescriptor_t points_desc,
                    const void* points, const mluOpTensorDescriptor_t point_features_desc, const void* point_features,
                    const mluOpTensorDescriptor_t boxes3d_desc, const void* boxes3d, void* workspace,
                    size_t workspace_size, const mluOpTensorDescriptor_t pooled_features_desc, void* pooled_features,
                    const mluOpTensorDescriptor_t pooled_empty_flag_desc, void* pooled_empty_flag);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_ROIPOINT_POOL3D_H_ */
