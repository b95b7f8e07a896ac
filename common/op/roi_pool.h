// Every rule of RoiPooling's arguments. Source: mluOpRoiPoolingForward and Backward of MLU-OPS 1.11; mmcv's roi_pool.
#pragma once

#include "common/op/check.h"
#include "mluops/op/roi_pool.h"
#include "mluops/problem/roi_pool.h"

namespace mluops::op {

struct RoiPoolForwardArgs {
  mluOpHandle_t handle;
  mluOpPoolingMode_t pooling_mode;
  TensorArg input, rois;
  Scalar spatial_scale;
  TensorArg output;
  int* argmax;
};

struct RoiPoolBackwardArgs {
  mluOpHandle_t handle;
  mluOpPoolingMode_t pooling_mode;
  TensorArg grads, rois, argmax;
  Scalar spatial_scale;
  TensorArg grads_image;
};

Status check_roi_pool_forward(const RoiPoolForwardArgs& args, mluopsRoiPoolForwardProblem& problem);
Status check_roi_pool_backward(const RoiPoolBackwardArgs& args, mluopsRoiPoolBackwardProblem& problem);

}  // namespace mluops::op
