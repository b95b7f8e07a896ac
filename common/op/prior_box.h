// Every rule of PriorBox' arguments. Source: mlu_op.h of mlu-ops and its design document.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/prior_box.h"

namespace mluops::op {

struct PriorBoxArgs {
  mluOpHandle_t handle;
  TensorArg min_sizes, aspect_ratios, variances, max_sizes;
  int height, width, im_height, im_width;
  Scalar step_h, step_w, offset;
  bool clip, min_max_aspect_ratios_order;
  TensorArg output, var;
};

Status check_prior_box(const PriorBoxArgs& args, mluopsPriorBoxProblem& problem);

}  // namespace mluops::op
