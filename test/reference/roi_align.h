// RoiAlign sample by sample: what a bin is, and what its gradient goes to.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct RoiAlignResult {
  Values output;
  Values argmax_x, argmax_y;  ///< empty where shape.mean
};
/// Shapes as in the problem; NHWC.
RoiAlignResult roi_align_forward(const mluopsRoiAlignForwardProblem& problem,
                                 Coordinates coordinates = Coordinates::kDouble);
/// grad_input.
Values roi_align_backward(const mluopsRoiAlignBackwardProblem& problem, Coordinates coordinates = Coordinates::kDouble);

}  // namespace mluops::reference
