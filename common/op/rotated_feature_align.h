// Every rule of RotatedFeatureAlign's arguments. Source: mmcv's rotated_feature_align.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/rotated_feature_align.h"

namespace mluops::op {

struct RotatedFeatureAlignForwardArgs {
  mluOpHandle_t handle;
  TensorArg input, bboxes;
  Scalar spatial_scale;
  int points;
  TensorArg output;
};

struct RotatedFeatureAlignBackwardArgs {
  mluOpHandle_t handle;
  TensorArg grads, bboxes;
  Scalar spatial_scale;
  int points;
  TensorArg grads_image;
};

Status check_rotated_feature_align_forward(const RotatedFeatureAlignForwardArgs& args,
                                           mluopsRotatedFeatureAlignForwardProblem& problem);
Status check_rotated_feature_align_backward(const RotatedFeatureAlignBackwardArgs& args,
                                            mluopsRotatedFeatureAlignBackwardProblem& problem);

}  // namespace mluops::op
