// Every rule of ThreeInterpolate's arguments. Source: design document; statuses as MLU-OPS 1.11 gives them.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/three_interpolate.h"

namespace mluops::op {

struct ThreeInterpolateArgs {
  mluOpHandle_t handle;
  TensorArg source;  // features [b,c,m] or grad_output [b,c,n]
  TensorArg indices, weights;
  TensorArg target;  // output [b,c,n] or grad_features [b,c,m]
};

Status check_three_interpolate_forward(const ThreeInterpolateArgs& args, mluopsThreeInterpolateForwardProblem& problem);
Status check_three_interpolate_backward(const ThreeInterpolateArgs& args,
                                        mluopsThreeInterpolateBackwardProblem& problem);

}  // namespace mluops::op
