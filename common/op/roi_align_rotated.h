// Every rule of RoiAlignRotated's arguments. Source: mlu_op.h of mlu-ops.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/roi_align_rotated.h"

namespace mluops::op {

struct RoiAlignRotatedNumbers {
  int pooled_height, pooled_width, sample_ratio;
  Scalar spatial_scale;
  bool aligned, clockwise;
};

struct RoiAlignRotatedForwardArgs {
  mluOpHandle_t handle;
  TensorArg features, rois;
  RoiAlignRotatedNumbers numbers;
  TensorArg output;
};

struct RoiAlignRotatedBackwardArgs {
  mluOpHandle_t handle;
  TensorArg top_grad, rois;
  RoiAlignRotatedNumbers numbers;
  TensorArg bottom_grad;
};

Status check_roi_align_rotated_forward(const RoiAlignRotatedForwardArgs& args,
                                       mluopsRoiAlignRotatedForwardProblem& problem);
Status check_roi_align_rotated_backward(const RoiAlignRotatedBackwardArgs& args,
                                        mluopsRoiAlignRotatedBackwardProblem& problem);

}  // namespace mluops::op
