// GetIndicePairs from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct GetIndicePairsResult {
  Values pairs;        ///< [offsets,2,inputs]
  Values out_indices;  ///< [outputs,axes+1]
  Values num;          ///< [offsets]
  std::int64_t outputs;
};
GetIndicePairsResult get_indice_pairs(const mluopsGetIndicePairsProblem& problem);

}  // namespace mluops::reference
