// Every rule of PsRoiPool's arguments. Source: mlu_op.h of mlu-ops.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/ps_roi_pool.h"

namespace mluops::op {

struct PsRoiPoolNumbers {
  int pooled_height, pooled_width;
  Scalar spatial_scale;
  int output_dim;
};

struct PsRoiPoolForwardArgs {
  mluOpHandle_t handle;
  PsRoiPoolNumbers numbers;
  int group_size;
  TensorArg input, rois, output, mapping_channel;
};

struct PsRoiPoolBackwardArgs {
  mluOpHandle_t handle;
  PsRoiPoolNumbers numbers;
  TensorArg top_grad, rois, mapping_channel, bottom_grad;
};

Status check_ps_roi_pool_forward(const PsRoiPoolForwardArgs& args, mluopsPsRoiPoolForwardProblem& problem);
Status check_ps_roi_pool_backward(const PsRoiPoolBackwardArgs& args, mluopsPsRoiPoolBackwardProblem& problem);

}  // namespace mluops::op
