// PriorBox, each number by itself, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct PriorBoxResult {
  Values output, var;  ///< [h,w,priors,4]
};
PriorBoxResult prior_box(const mluopsPriorBoxProblem& problem);

}  // namespace mluops::reference
