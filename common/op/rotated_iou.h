// Every rule of RotatedIou's arguments.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/rotated_iou.h"

namespace mluops::op {

struct RotatedIouForwardArgs {
  mluOpHandle_t handle;
  TensorArg box1, box2, ious;
};

struct RotatedIouBackwardArgs {
  mluOpHandle_t handle;
  TensorArg grads, box1, box2, grads1, grads2;
};

Status check_rotated_iou_forward(const RotatedIouForwardArgs& args, mluopsRotatedIouForwardProblem& problem);
Status check_rotated_iou_backward(const RotatedIouBackwardArgs& args, mluopsRotatedIouBackwardProblem& problem);

}  // namespace mluops::op
