// Which of some ranges a key lies in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace mluops::cpu::spatial {

/// For each key the last of the ranges whose least key is at most that; the first, if there is none. low(range) is the
/// least key of one, ascending from the first to the last. The keys are looked for side by side, since a search does
/// nothing but wait for one load after the other.
template <std::size_t kKeys, class Range, class Key, class Low = std::identity>
inline std::array<std::int64_t, kKeys> ranges_of(const Range* ranges, std::int64_t count,
                                                 const std::array<Key, kKeys>& keys, Low low = {}) {
  std::array<std::int64_t, kKeys> found = {};
  for (std::int64_t left = count; left > 1;) {  // without branches: which half it is in nobody could predict
    const std::int64_t half = left / 2;
    for (std::size_t k = 0; k < kKeys; ++k) {
      found[k] = std::invoke(low, ranges[found[k] + half]) <= keys[k] ? found[k] + half : found[k];
    }
    left -= half;
  }
  return found;
}

/// That of one key.
template <class Range, class Key>
inline std::int64_t range_of(const Range* ranges, std::int64_t count, Key key) {
  return ranges_of(ranges, count, std::array<Key, 1>{key})[0];
}

}  // namespace mluops::cpu::spatial
