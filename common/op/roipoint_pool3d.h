// Every rule of RoiPointPool3d's arguments. Source: statuses as MLU-OPS 1.11 gives them.
#pragma once

#include <cstddef>

#include "common/op/check.h"
#include "mluops/problem/roipoint_pool3d.h"

namespace mluops::op {

struct RoiPointPool3dArgs {
  mluOpHandle_t handle;
  int batch_size, pts_num, boxes_num, feature_in_len, sampled_pts_num;
  TensorArg points, point_features, boxes3d;
  void* workspace;
  std::size_t workspace_size;
  TensorArg pooled_features, pooled_empty_flag;
};

Status check_roipoint_pool3d(const RoiPointPool3dArgs& args, mluopsRoiPointPool3dProblem& problem);
/// The data pointers of args are not looked at.
Status check_roipoint_pool3d_workspace(const RoiPointPool3dArgs& args, std::size_t* size);

}  // namespace mluops::op
