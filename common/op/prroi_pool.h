// Every rule of PrRoIPool's arguments. Source: mmcv's prroi_pool.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/prroi_pool.h"

namespace mluops::op {

struct PrRoiPoolForwardArgs {
  mluOpHandle_t handle;
  TensorArg input, rois;
  Scalar spatial_scale;
  TensorArg output;
};

struct PrRoiPoolBackwardArgs {
  mluOpHandle_t handle;
  TensorArg grads, input, rois;
  Scalar spatial_scale;
  TensorArg grads_image, grads_rois;  ///< one of them may be absent
};

Status check_prroi_pool_forward(const PrRoiPoolForwardArgs& args, mluopsPrRoiPoolForwardProblem& problem);
Status check_prroi_pool_backward(const PrRoiPoolBackwardArgs& args, mluopsPrRoiPoolBackwardProblem& problem);

}  // namespace mluops::op
