// Every rule of BboxOverlaps', BoxIouRotated's, BoxIouQuadri's and NmsRotated's arguments. Source: mlu_op.h of mlu-ops.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/box_iou.h"

namespace mluops::op {

struct BoxIouArgs {
  mluOpHandle_t handle;
  int mode;
  bool aligned;
  int offset;
  TensorArg bbox1, bbox2, ious;
};

struct NmsRotatedArgs {
  mluOpHandle_t handle;
  Scalar iou_threshold;
  TensorArg boxes, scores, output;
  std::int32_t* result_num;
};

Status check_bbox_overlaps(const BoxIouArgs& args, mluopsBoxIouProblem& problem);
Status check_box_iou_rotated(const BoxIouArgs& args, mluopsBoxIouProblem& problem);
Status check_box_iou_quadri(const BoxIouArgs& args, mluopsBoxIouProblem& problem);
Status check_nms_rotated(const NmsRotatedArgs& args, mluopsNmsRotatedProblem& problem);

}  // namespace mluops::op
