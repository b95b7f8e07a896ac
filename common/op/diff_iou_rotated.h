// Every rule of DiffIouRotatedSortVertices's arguments. Source: statuses as MLU-OPS gives them.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/diff_iou_rotated.h"

namespace mluops::op {

struct DiffIouRotatedSortVerticesArgs {
  mluOpHandle_t handle;
  TensorArg vertices, mask, num_valid, idx;
};

Status check_diff_iou_rotated_sort_vertices(const DiffIouRotatedSortVerticesArgs& args,
                                            mluopsDiffIouRotatedSortVerticesProblem& problem);

}  // namespace mluops::op
