// BallQuery from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// idx [b,m,nsample].
Values ball_query(const mluopsBallQueryProblem& problem);

}  // namespace mluops::reference
