// Every rule of PolyNms' arguments. Source: mlu_op.h of mlu-ops.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/poly_nms.h"

namespace mluops::op {

struct PolyNmsArgs {
  mluOpHandle_t handle;
  TensorArg boxes;
  Scalar iou_threshold;
  TensorArg output;
  void* output_size;
};

/// [N, 9]: all that the size of the workspace asks for.
Status is_polygons(const TensorArg& boxes);
Status check_poly_nms(const PolyNmsArgs& args, mluopsPolyNmsProblem& problem);

}  // namespace mluops::op
