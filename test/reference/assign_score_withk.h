// AssignScoreWithk from its formulas.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [b,o,p,k].
Values assign_score_withk_forward(const mluopsAssignScoreWithkForwardProblem& problem);

struct AssignScoreWithkGradients {
  Values points, centers;  ///< [b,n,m,o]
  Values scores;           ///< [b,p,k,m]
};
AssignScoreWithkGradients assign_score_withk_backward(const mluopsAssignScoreWithkBackwardProblem& problem);

}  // namespace mluops::reference
