// Every rule of YoloBox' arguments. Source: mlu_op.h of mlu-ops and its design document.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/yolo_box.h"

namespace mluops::op {

struct YoloBoxArgs {
  mluOpHandle_t handle;
  TensorArg x, img_size, anchors;
  int class_num;
  Scalar conf_thresh;
  int downsample_ratio;
  bool clip_bbox;
  Scalar scale;
  bool iou_aware;
  Scalar iou_aware_factor;
  TensorArg boxes, scores;
};

Status check_yolo_box(const YoloBoxArgs& args, mluopsYoloBoxProblem& problem);

}  // namespace mluops::op
