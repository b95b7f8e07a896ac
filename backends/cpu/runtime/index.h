// Numbers that become indices. A float is cast to an integer here alone: one that the integer cannot hold is undefined.
#pragma once

#include <cstdint>

namespace mluops::cpu {

/// The whole part of x in [0, count): 0 for NaN and all below 1, count - 1 for what lies beyond; count is at least 1.
template <class F>
inline std::int64_t index_of(F x, std::int64_t count) {
  if (!(x >= 1)) return 0;
  return x < static_cast<F>(count) ? static_cast<std::int64_t>(x) : count - 1;
}

}  // namespace mluops::cpu
