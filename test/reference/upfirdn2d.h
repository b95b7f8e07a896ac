// Upfirdn2d in double, as the textbook has it: zeros between the pixels, padding, correlation, every few pixels.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [n,out_h,out_w,c], of an NHWC problem.
Values upfirdn2d(const mluopsUpfirdn2dProblem& problem);

}  // namespace mluops::reference
