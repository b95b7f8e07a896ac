// BoxesOverlapBev and Nms3d from their definitions, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// overlap [n,m].
Values boxes_overlap_bev(const mluopsBoxesOverlapBevProblem& problem);

struct Nms3dResult {
  Values keep;  ///< [n]
  Values num;   ///< [1]
};
Nms3dResult nms3d(const mluopsNms3dProblem& problem);

}  // namespace mluops::reference
