// Knn from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct KnnResult {
  Values idx;    ///< [b,m,k]
  Values dist2;  ///< [b,m,k]
};
KnnResult knn(const mluopsKnnProblem& problem);

}  // namespace mluops::reference
