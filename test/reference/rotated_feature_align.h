// RotatedFeatureAlign point by point, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [batch,h,w,c].
Values rotated_feature_align_forward(const mluopsRotatedFeatureAlignForwardProblem& problem);
/// grad_input [batch,h,w,c].
Values rotated_feature_align_backward(const mluopsRotatedFeatureAlignBackwardProblem& problem);

}  // namespace mluops::reference
