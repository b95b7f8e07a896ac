// Every rule of RoiAlign's arguments. Source: mluOpRoiAlignForward_v2 and Backward_v2 of MLU-OPS 1.11.
#pragma once

#include "common/op/check.h"
#include "mluops/op/roi_align.h"
#include "mluops/problem/roi_align.h"

/// What mluOpRoiAlignForwardDescriptor_t points to; all zero until set.
struct mluOpRoiAlignStruct {
  int pooled_height = 0;
  int pooled_width = 0;
  int sampling_ratio = 0;
  float spatial_scale = 0;
  int pool_mode = 0;
  bool aligned = false;
};

namespace mluops::op {

struct RoiAlignForwardArgs {
  mluOpHandle_t handle;
  mluOpRoiAlignForwardDescriptor_t roialign_desc;
  Scalar spatial_scale;  // the descriptor's
  TensorArg input, boxes, output, argmax_x, argmax_y;
};

struct RoiAlignBackwardArgs {
  mluOpHandle_t handle;
  TensorArg grads, boxes, argmax_x, argmax_y;
  Scalar spatial_scale;
  int sampling_ratio;
  bool aligned;
  int pool_mode;
  TensorArg grads_image;
};

Status check_roi_align_descriptor(const mluOpRoiAlignStruct& desc);
Status check_roi_align_forward(const RoiAlignForwardArgs& args, mluopsRoiAlignForwardProblem& problem);
Status check_roi_align_backward(const RoiAlignBackwardArgs& args, mluopsRoiAlignBackwardProblem& problem);

}  // namespace mluops::op
