#include "common/op/roiaware_pool3d.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/roiaware_pool3d.h"

using namespace mluops;

mluOpStatus_t mluOpGetRoiAwarePool3dForwardWorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t rois_desc,
                                                         const mluOpTensorDescriptor_t pts_desc,
                                                         const mluOpTensorDescriptor_t pts_feature_desc,
                                                         size_t* workspace_size) {
  return guard(__func__, [&] {
    return op::check_roiaware_pool3d_workspace(handle, {"rois", rois_desc, nullptr}, {"pts", pts_desc, nullptr},
                                               {"pts_feature", pts_feature_desc, nullptr}, workspace_size);
  });
}

mluOpStatus_t mluOpRoiAwarePool3dForward(mluOpHandle_t handle, const int pool_method, const int boxes_num,
                                         const int pts_num, const int channels, const mluOpTensorDescriptor_t rois_desc,
                                         const void* rois, const mluOpTensorDescriptor_t pts_desc, const void* pts,
                                         const mluOpTensorDescriptor_t pts_feature_desc, const void* pts_feature,
                                         void* workspace, size_t workspace_size, const int max_pts_each_voxel,
                                         const int out_x, const int out_y, const int out_z,
                                         const mluOpTensorDescriptor_t argmax_desc, void* argmax,
                                         const mluOpTensorDescriptor_t pts_idx_of_voxels_desc, void* pts_idx_of_voxels,
                                         const mluOpTensorDescriptor_t pooled_features_desc, void* pooled_features) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsRoiAwarePool3dForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_roiaware_pool3d_forward({handle,
                                           {pool_method, boxes_num, channels, max_pts_each_voxel, out_x, out_y, out_z},
                                           pts_num,
                                           {"rois", rois_desc, rois},
                                           {"pts", pts_desc, pts},
                                           {"pts_feature", pts_feature_desc, pts_feature},
                                           workspace,
                                           workspace_size,
                                           {"argmax", argmax_desc, argmax},
                                           {"pts_idx_of_voxels", pts_idx_of_voxels_desc, pts_idx_of_voxels},
                                           {"pooled_features", pooled_features_desc, pooled_features}},
                                          problem));
    return dispatch(*handle, "roiaware_pool3d_forward", problem, &mluopsBackend::roiaware_pool3d_forward);
  });
}

mluOpStatus_t mluOpRoiAwarePool3dBackward(mluOpHandle_t handle, const int pool_method, const int boxes_num,
                                          const int out_x, const int out_y, const int out_z, const int channels,
                                          const int max_pts_each_voxel,
                                          const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
                                          const void* pts_idx_of_voxels, const mluOpTensorDescriptor_t argmax_desc,
                                          const void* argmax, const mluOpTensorDescriptor_t grad_out_desc,
                                          const void* grad_out, const mluOpTensorDescriptor_t grad_in_desc,
                                          void* grad_in) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsRoiAwarePool3dBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_roiaware_pool3d_backward({handle,
                                            {pool_method, boxes_num, channels, max_pts_each_voxel, out_x, out_y, out_z},
                                            {"pts_idx_of_voxels", pts_idx_of_voxels_desc, pts_idx_of_voxels},
                                            {"argmax", argmax_desc, argmax},
                                            {"grad_out", grad_out_desc, grad_out},
                                            {"grad_in", grad_in_desc, grad_in}},
                                           problem));
    return dispatch(*handle, "roiaware_pool3d_backward", problem, &mluopsBackend::roiaware_pool3d_backward);
  });
}

mluOpStatus_t mluOpGetRoiawarePool3dForwardWorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t rois_desc,
                                                         const mluOpTensorDescriptor_t pts_desc,
                                                         const mluOpTensorDescriptor_t pts_feature_desc,
                                                         size_t* workspace_size) {
  return mluOpGetRoiAwarePool3dForwardWorkspaceSize(handle, rois_desc, pts_desc, pts_feature_desc, workspace_size);
}

mluOpStatus_t mluOpRoiawarePool3dForward(mluOpHandle_t handle, const int pool_method, const int boxes_num,
                                         const int pts_num, const int channels, const mluOpTensorDescriptor_t rois_desc,
                                         const void* rois, const mluOpTensorDescriptor_t pts_desc, const void* pts,
                                         const mluOpTensorDescriptor_t pts_feature_desc, const void* pts_feature,
                                         void* workspace, size_t workspace_size, const int max_pts_each_voxel,
                                         const int out_x, const int out_y, const int out_z,
                                         const mluOpTensorDescriptor_t argmax_desc, void* argmax,
                                         const mluOpTensorDescriptor_t pts_idx_of_voxels_desc, void* pts_idx_of_voxels,
                                         const mluOpTensorDescriptor_t pooled_features_desc, void* pooled_features) {
  return mluOpRoiAwarePool3dForward(handle, pool_method, boxes_num, pts_num, channels, rois_desc, rois, pts_desc, pts,
                                    pts_feature_desc, pts_feature, workspace, workspace_size, max_pts_each_voxel, out_x,
                                    out_y, out_z, argmax_desc, argmax, pts_idx_of_voxels_desc, pts_idx_of_voxels,
                                    pooled_features_desc, pooled_features);
}

mluOpStatus_t mluOpRoiawarePool3dBackward(mluOpHandle_t handle, const int pool_method, const int boxes_num,
                                          const int out_x, const int out_y, const int out_z, const int channels,
                                          const int max_pts_each_voxel,
                                          const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
                                          const void* pts_idx_of_voxels, const mluOpTensorDescriptor_t argmax_desc,
                                          const void* argmax, const mluOpTensorDescriptor_t grad_out_desc,
                                          const void* grad_out, const mluOpTensorDescriptor_t grad_in_desc,
                                          void* grad_in) {
  return mluOpRoiAwarePool3dBackward(handle, pool_method, boxes_num, out_x, out_y, out_z, channels, max_pts_each_voxel,
                                     pts_idx_of_voxels_desc, pts_idx_of_voxels, argmax_desc, argmax, grad_out_desc,
                                     grad_out, grad_in_desc, grad_in);
}
