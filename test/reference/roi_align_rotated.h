// RoiAlignRotated sample by sample, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [rois,pooled_h,pooled_w,c].
Values roi_align_rotated_forward(const mluopsRoiAlignRotatedForwardProblem& problem);
/// grad_input [batch,h,w,c].
Values roi_align_rotated_backward(const mluopsRoiAlignRotatedBackwardProblem& problem);

}  // namespace mluops::reference
