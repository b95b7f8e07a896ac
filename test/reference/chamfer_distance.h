// ChamferDistance from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct ChamferDistanceResult {
  Values dist1, dist2;
  Values idx1, idx2;
};
ChamferDistanceResult chamfer_distance_forward(const mluopsChamferDistanceForwardProblem& problem);

struct ChamferDistanceGradients {
  Values xyz1, xyz2;
};
ChamferDistanceGradients chamfer_distance_backward(const mluopsChamferDistanceBackwardProblem& problem);

}  // namespace mluops::reference
