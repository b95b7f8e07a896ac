// Every rule of CARAFE's arguments. Source: CARAFE design documents; statuses as MLU-OPS 1.11 gives them.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/carafe.h"

/// What mluOpCarafeDescriptor_t points to; all zero until set.
struct mluOpCarafeStruct {
  int dim_nb = 0;
  int kernel_size = 0;
  int group_size = 0;
  int scale_factor = 0;
};

namespace mluops::op {

struct CarafeForwardArgs {
  mluOpHandle_t handle;
  mluOpCarafeDescriptor_t carafe_desc;
  TensorArg input, mask, output;
};

struct CarafeBackwardArgs {
  mluOpHandle_t handle;
  mluOpCarafeDescriptor_t carafe_desc;
  TensorArg input, mask, grad_output, grad_input, grad_mask;
};

Status check_carafe_descriptor(const mluOpCarafeStruct& desc);
Status check_carafe_forward(const CarafeForwardArgs& args, mluopsCarafeForwardProblem& problem);
Status check_carafe_backward(const CarafeBackwardArgs& args, mluopsCarafeBackwardProblem& problem);

}  // namespace mluops::op
