// Every rule of BezierAlign's arguments. Source: mmcv's bezier_align.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/bezier_align.h"

namespace mluops::op {

struct BezierAlignNumbers {
  Scalar spatial_scale;
  int sampling_ratio;
  bool aligned;
};

struct BezierAlignForwardArgs {
  mluOpHandle_t handle;
  TensorArg input, beziers;
  BezierAlignNumbers numbers;
  TensorArg output;
};

struct BezierAlignBackwardArgs {
  mluOpHandle_t handle;
  TensorArg grads, beziers;
  BezierAlignNumbers numbers;
  TensorArg grads_image;
};

Status check_bezier_align_forward(const BezierAlignForwardArgs& args, mluopsBezierAlignForwardProblem& problem);
Status check_bezier_align_backward(const BezierAlignBackwardArgs& args, mluopsBezierAlignBackwardProblem& problem);

}  // namespace mluops::op
