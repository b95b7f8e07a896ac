// Every rule of BorderAlign's arguments. Source: design document; statuses as MLU-OPS 1.11 gives them.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/border_align.h"

namespace mluops::op {

struct BorderAlignForwardArgs {
  mluOpHandle_t handle;
  TensorArg input, boxes;
  std::int32_t pool_size;
  TensorArg output, argmax_idx;
};

struct BorderAlignBackwardArgs {
  mluOpHandle_t handle;
  TensorArg grad_output, boxes, argmax_idx;
  std::int32_t pool_size;
  TensorArg grad_input;
};

Status check_border_align_forward(const BorderAlignForwardArgs& args, mluopsBorderAlignForwardProblem& problem);
Status check_border_align_backward(const BorderAlignBackwardArgs& args, mluopsBorderAlignBackwardProblem& problem);

}  // namespace mluops::op
