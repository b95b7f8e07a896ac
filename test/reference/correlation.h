// Correlation pair by pair of pixels, in double.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [n,p,p,out_h,out_w].
Values correlation_forward(const mluopsCorrelationForwardProblem& problem);

struct CorrelationGradients {
  Values input1, input2;  ///< [n,h,w,c]
};
CorrelationGradients correlation_backward(const mluopsCorrelationBackwardProblem& problem);

}  // namespace mluops::reference
