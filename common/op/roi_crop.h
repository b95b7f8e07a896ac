// Every rule of RoiCrop's arguments. Source: mlu_op.h of mlu-ops.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/roi_crop.h"

namespace mluops::op {

struct RoiCropForwardArgs {
  mluOpHandle_t handle;
  TensorArg input, grid, output;
};

struct RoiCropBackwardArgs {
  mluOpHandle_t handle;
  TensorArg grad_output, grid, grad_input;
};

Status check_roi_crop_forward(const RoiCropForwardArgs& args, mluopsRoiCropForwardProblem& problem);
Status check_roi_crop_backward(const RoiCropBackwardArgs& args, mluopsRoiCropBackwardProblem& problem);

}  // namespace mluops::op
