// Every rule of VoxelPooling's arguments. Source: mlu_op.h of mlu-ops.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/voxel_pooling.h"

namespace mluops::op {

struct VoxelPoolingArgs {
  mluOpHandle_t handle;
  int batch_size, num_points, num_channels;
  int num_voxel_x, num_voxel_y, num_voxel_z;
  TensorArg geom_xyz, input_features, output_features, pos_memo;
};

Status check_voxel_pooling_forward(const VoxelPoolingArgs& args, mluopsVoxelPoolingForwardProblem& problem);

}  // namespace mluops::op
