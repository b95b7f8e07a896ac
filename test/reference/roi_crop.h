// RoiCrop point by point, in double but for the coordinates.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [grids,out_h,out_w,c].
Values roi_crop_forward(const mluopsRoiCropForwardProblem& problem, Coordinates coordinates = Coordinates::kDouble);
/// grad_input [batch,h,w,c].
Values roi_crop_backward(const mluopsRoiCropBackwardProblem& problem, Coordinates coordinates = Coordinates::kDouble);

}  // namespace mluops::reference
