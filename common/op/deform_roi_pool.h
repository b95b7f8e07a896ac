// Every rule of DeformRoiPool's arguments. Source: design document; statuses as MLU-OPS 1.11 gives them.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/deform_roi_pool.h"

namespace mluops::op {

struct DeformRoiPoolParams {
  int pooled_height, pooled_width;
  Scalar spatial_scale;
  int sampling_ratio;
  Scalar gamma;
};

struct DeformRoiPoolForwardArgs {
  mluOpHandle_t handle;
  TensorArg input, rois, offset;  // offset may be absent: descriptor and data NULL
  DeformRoiPoolParams params;
  TensorArg output;
};

struct DeformRoiPoolBackwardArgs {
  mluOpHandle_t handle;
  TensorArg grad_output, input, rois, offset;
  DeformRoiPoolParams params;
  TensorArg grad_input, grad_offset;  // grad_offset is absent exactly when offset is
};

Status check_deform_roi_pool_forward(const DeformRoiPoolForwardArgs& args, mluopsDeformRoiPoolForwardProblem& problem);
Status check_deform_roi_pool_backward(const DeformRoiPoolBackwardArgs& args,
                                      mluopsDeformRoiPoolBackwardProblem& problem);

}  // namespace mluops::op
