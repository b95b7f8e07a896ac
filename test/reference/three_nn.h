// ThreeNN from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct ThreeNNResult {
  Values dist2;  ///< [b,n,3]
  Values idx;    ///< [b,n,3]
};
ThreeNNResult three_nn_forward(const mluopsThreeNNForwardProblem& problem);

}  // namespace mluops::reference
