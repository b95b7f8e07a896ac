// RoiAwarePool3d from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct RoiAwarePool3dResult {
  Values argmax;  ///< [n,x,y,z,c]
  Values points;  ///< [n,x,y,z,most]
  Values pooled;  ///< [n,x,y,z,c]
};
RoiAwarePool3dResult roiaware_pool3d_forward(const mluopsRoiAwarePool3dForwardProblem& problem);
/// grad_input [points,c].
Values roiaware_pool3d_backward(const mluopsRoiAwarePool3dBackwardProblem& problem);

}  // namespace mluops::reference
