// Every rule of Voxelization's arguments. Source: statuses as MLU-OPS 1.11 gives them; mmcv's dynamic_voxelize.
#pragma once

#include <cstddef>

#include "common/op/check.h"
#include "mluops/problem/voxelization.h"

namespace mluops::op {

struct VoxelizationArgs {
  mluOpHandle_t handle;
  TensorArg points, voxel_size, coors_range;
  int max_points, max_voxels, dimensions;
  bool deterministic;
  void* workspace;
  std::size_t workspace_size;
  TensorArg voxels, coors, num_points_per_voxel, voxel_num;
};

struct DynamicVoxelizeArgs {
  mluOpHandle_t handle;
  TensorArg points, voxel_size, coors_range, coors;
};

Status check_voxelization(const VoxelizationArgs& args, mluopsVoxelizationProblem& problem);
Status check_dynamic_voxelize(const DynamicVoxelizeArgs& args, mluopsDynamicVoxelizeProblem& problem);
/// The data pointers of args are not looked at.
Status check_voxelization_workspace(const VoxelizationArgs& args, std::size_t* size);

}  // namespace mluops::op
