// FurthestPointSample from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// idx [b,m].
Values furthest_point_sample(const mluopsFurthestPointSampleProblem& problem);
/// idx [b,m].
Values furthest_point_sample_with_dist(const mluopsFurthestPointSampleWithDistProblem& problem);

}  // namespace mluops::reference
