// Pairs of rows, one by one.
#pragma once

#include "mluops/problem.h"

namespace mluops::reference {

/// visit(k, input, output) for the pairs that lead to a row of both tensors.
template <class Visit>
void each_pair(const mluopsIndicePairs& pairs, std::int64_t inputs, std::int64_t outputs, bool inverse,
               const Visit& visit) {
  for (std::int64_t k = 0; k < pairs.offsets; ++k) {
    for (std::int64_t p = 0; p < pairs.indice_num[k]; ++p) {
      const std::int64_t one = pairs.indice_pairs[2 * k * pairs.places + p];
      const std::int64_t other = pairs.indice_pairs[(2 * k + 1) * pairs.places + p];
      const std::int64_t input = inverse ? other : one, output = inverse ? one : other;
      if (input >= 0 && input < inputs && output >= 0 && output < outputs) visit(k, input, output);
    }
  }
}

}  // namespace mluops::reference
