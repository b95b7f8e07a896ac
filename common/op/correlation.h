// Every rule of Correlation's arguments.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/correlation.h"

namespace mluops::op {

struct CorrelationNumbers {
  int kernel_h, kernel_w, max_displacement, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, dilation_patch_h,
      dilation_patch_w;
};

struct CorrelationForwardArgs {
  mluOpHandle_t handle;
  TensorArg input1, input2;
  CorrelationNumbers numbers;
  TensorArg output;
};

struct CorrelationBackwardArgs {
  mluOpHandle_t handle;
  TensorArg grads, input1, input2;
  CorrelationNumbers numbers;
  TensorArg grads1, grads2;
};

Status check_correlation_forward(const CorrelationForwardArgs& args, mluopsCorrelationForwardProblem& problem);
Status check_correlation_backward(const CorrelationBackwardArgs& args, mluopsCorrelationBackwardProblem& problem);

}  // namespace mluops::op
