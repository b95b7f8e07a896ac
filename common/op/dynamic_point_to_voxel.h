// Every rule of DynamicPointToVoxel's arguments. Source: statuses as MLU-OPS 1.11 gives them.
#pragma once

#include <cstddef>

#include "common/op/check.h"
#include "mluops/problem/dynamic_point_to_voxel.h"

namespace mluops::op {

struct DynamicPointToVoxelForwardArgs {
  mluOpHandle_t handle;
  mluOpReduceMode_t reduce_type;
  TensorArg feats, coors;
  void* workspace;
  std::size_t workspace_size;
  TensorArg voxel_feats, voxel_coors, point2voxel_map, voxel_points_count, voxel_num;
};

struct DynamicPointToVoxelBackwardArgs {
  mluOpHandle_t handle;
  mluOpReduceMode_t reduce_type;
  TensorArg grad_voxel_feats, feats, voxel_feats, point2voxel_map, voxel_points_count, voxel_num;
  void* workspace;
  std::size_t workspace_size;
  TensorArg grad_feats;
};

Status check_dynamic_point_to_voxel_forward(const DynamicPointToVoxelForwardArgs& args,
                                            mluopsDynamicPointToVoxelForwardProblem& problem);
Status check_dynamic_point_to_voxel_backward(const DynamicPointToVoxelBackwardArgs& args,
                                             mluopsDynamicPointToVoxelBackwardProblem& problem);
Status check_dynamic_point_to_voxel_forward_workspace(mluOpHandle_t handle, const TensorArg& feats,
                                                      const TensorArg& coors, std::size_t* workspace_size);
/// `all` are the tensors of the call but grad_feats; voxel_feats is one of them.
Status check_dynamic_point_to_voxel_backward_workspace(mluOpHandle_t handle, std::initializer_list<TensorArg> all,
                                                       const TensorArg& voxel_feats, std::size_t* workspace_size);

}  // namespace mluops::op
