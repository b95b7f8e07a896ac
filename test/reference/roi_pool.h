// RoiPooling pixel by pixel.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct RoiPoolResult {
  Values output, argmax;  ///< [rois,pooled_h,pooled_w,c]
};
RoiPoolResult roi_pool_forward(const mluopsRoiPoolForwardProblem& problem,
                               Coordinates coordinates = Coordinates::kDouble);
/// grad_input [batch,h,w,c].
Values roi_pool_backward(const mluopsRoiPoolBackwardProblem& problem);

}  // namespace mluops::reference
