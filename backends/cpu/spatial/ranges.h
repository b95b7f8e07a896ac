// Which of some ranges a key lies in.
#pragma once

#include <cstdint>
#include <functional>

namespace mluops::cpu::spatial {

/// The last of the ranges whose least key is at most `key`; the first, if there is none. low(range) is the least key
/// of one, ascending from the first to the last.
template <class Range, class Key, class Low = std::identity>
inline std::int64_t range_of(const Range* ranges, std::int64_t count, Key key, Low low = {}) {
  std::int64_t range = 0;  // without branches: which half it is in nobody could predict
  for (std::int64_t left = count; left > 1;) {
    const std::int64_t half = left / 2;
    range = std::invoke(low, ranges[range + half]) <= key ? range + half : range;
    left -= half;
  }
  return range;
}

}  // namespace mluops::cpu::spatial
