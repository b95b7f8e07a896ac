// IndiceMaxPool from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// [outputs,c].
Values indice_max_pool_forward(const mluopsIndiceMaxPoolForwardProblem& problem);
/// [inputs,c].
Values indice_max_pool_backward(const mluopsIndiceMaxPoolBackwardProblem& problem);

}  // namespace mluops::reference
