// Every rule of ThreeNN's arguments. Source: statuses as MLU-OPS 1.11 gives them.
#pragma once

#include <cstddef>

#include "common/op/check.h"
#include "mluops/problem/three_nn.h"

namespace mluops::op {

struct ThreeNNForwardArgs {
  mluOpHandle_t handle;
  TensorArg unknown, known;
  void* workspace;
  std::size_t workspace_size;
  TensorArg dist2, idx;
};

Status check_three_nn_forward(const ThreeNNForwardArgs& args, mluopsThreeNNForwardProblem& problem);
Status check_three_nn_workspace(mluOpHandle_t handle, const TensorArg& known, std::size_t* workspace_size);

}  // namespace mluops::op
