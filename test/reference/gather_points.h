// GatherPoints and GroupPoints from their formulas.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [b,c,m].
Values gather_points_forward(const mluopsGatherPointsForwardProblem& problem);
/// grad_points [b,c,n].
Values gather_points_backward(const mluopsGatherPointsBackwardProblem& problem);

}  // namespace mluops::reference
