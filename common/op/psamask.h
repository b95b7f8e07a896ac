// Every rule of PSAMask's arguments. Source: psamask design document; statuses as MLU-OPS 1.11 gives them.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/psamask.h"

namespace mluops::op {

struct PsamaskArgs {
  mluOpHandle_t handle;
  int psa_type;
  TensorArg source;  // x or dy
  int h_mask, w_mask;
  TensorArg target;  // y or dx
};

Status check_psamask_forward(const PsamaskArgs& args, mluopsPsamaskForwardProblem& problem);
Status check_psamask_backward(const PsamaskArgs& args, mluopsPsamaskBackwardProblem& problem);

}  // namespace mluops::op
