// Every rule of PointsInBoxes' arguments. Source: statuses as MLU-OPS 1.11 gives them; mmcv's points_in_boxes.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/points_in_boxes.h"

namespace mluops::op {

struct PointsInBoxesArgs {
  mluOpHandle_t handle;
  TensorArg points, boxes;
  TensorArg result;  // the first box of each point [b,m], or whether it is in each [b,m,n]
  bool centred;      // z of a box is its centre
};

Status check_points_in_boxes_part(const PointsInBoxesArgs& args, mluopsPointsInBoxesPartProblem& problem);
Status check_points_in_boxes_all(const PointsInBoxesArgs& args, mluopsPointsInBoxesAllProblem& problem);

}  // namespace mluops::op
