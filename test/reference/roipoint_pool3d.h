// RoiPointPool3d from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct RoiPointPool3dResult {
  Values features;  ///< [b,m,samples,3+c]
  Values empty;     ///< [b,m]
};
RoiPointPool3dResult roipoint_pool3d(const mluopsRoiPointPool3dProblem& problem);

}  // namespace mluops::reference
