// BezierAlign sample by sample, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [rois,pooled_h,pooled_w,c].
Values bezier_align_forward(const mluopsBezierAlignForwardProblem& problem);
/// grad_input [batch,h,w,c].
Values bezier_align_backward(const mluopsBezierAlignBackwardProblem& problem);

}  // namespace mluops::reference
