// Every rule of BoxesOverlapBev's and Nms3d's arguments. Source: mmcv's iou3d.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/iou3d.h"

namespace mluops::op {

struct BoxesOverlapBevArgs {
  mluOpHandle_t handle;
  TensorArg boxes_a, boxes_b, overlap;
};

struct Nms3dArgs {
  mluOpHandle_t handle;
  TensorArg boxes;
  Scalar iou_threshold;
  int rotated;
  TensorArg keep;
  void* num_out;
};

Status check_boxes_overlap_bev(const BoxesOverlapBevArgs& args, mluopsBoxesOverlapBevProblem& problem);
Status check_nms3d(const Nms3dArgs& args, mluopsNms3dProblem& problem);

}  // namespace mluops::op
