// Every rule of RoiAwarePool3d's arguments. Source: statuses as MLU-OPS 1.11 gives them.
#pragma once

#include <cstddef>

#include "common/op/check.h"
#include "mluops/problem/roiaware_pool3d.h"

namespace mluops::op {

/// The numbers both directions are given.
struct RoiAwarePool3dSizes {
  int pool_method, boxes_num, channels, max_pts_each_voxel, out_x, out_y, out_z;
};

struct RoiAwarePool3dForwardArgs {
  mluOpHandle_t handle;
  RoiAwarePool3dSizes sizes;
  int pts_num;
  TensorArg rois, pts, pts_feature;
  void* workspace;
  std::size_t workspace_size;
  TensorArg argmax, pts_idx_of_voxels, pooled_features;
};

struct RoiAwarePool3dBackwardArgs {
  mluOpHandle_t handle;
  RoiAwarePool3dSizes sizes;
  TensorArg pts_idx_of_voxels, argmax, grad_out, grad_in;
};

Status check_roiaware_pool3d_forward(const RoiAwarePool3dForwardArgs& args,
                                     mluopsRoiAwarePool3dForwardProblem& problem);
Status check_roiaware_pool3d_backward(const RoiAwarePool3dBackwardArgs& args,
                                      mluopsRoiAwarePool3dBackwardProblem& problem);
Status check_roiaware_pool3d_workspace(mluOpHandle_t handle, const TensorArg& rois, const TensorArg& pts,
                                       const TensorArg& pts_feature, std::size_t* workspace_size);

}  // namespace mluops::op
