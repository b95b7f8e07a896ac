// PointsInBoxes from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// idx [b,m].
Values points_in_boxes_part(const mluopsPointsInBoxesPartProblem& problem);
/// inside [b,m,n].
Values points_in_boxes_all(const mluopsPointsInBoxesAllProblem& problem);

}  // namespace mluops::reference
