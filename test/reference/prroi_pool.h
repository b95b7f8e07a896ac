// PrRoIPool by the antiderivative of the hat, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [rois,pooled_h,pooled_w,c].
Values prroi_pool_forward(const mluopsPrRoiPoolForwardProblem& problem);

struct PrRoiPoolGradients {
  Values input;  ///< [batch,h,w,c]
  Values rois;   ///< [rois,5]
};
PrRoiPoolGradients prroi_pool_backward(const mluopsPrRoiPoolBackwardProblem& problem);

}  // namespace mluops::reference
