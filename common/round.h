// Rounding to whole numbers, halves away from zero.
#pragma once

#include <cmath>

namespace mluops {

/// The nearest whole number; of two, the one away from zero. NaN and infinities stay. Not std::round: that of mingw's C
/// library makes 1 of the float below 0.5.
template <class T>
T round_half_away(T x) {
  const T whole = std::trunc(x);
  return std::fabs(x - whole) >= static_cast<T>(0.5) ? whole + std::copysign(T{1}, x) : whole;
}

}  // namespace mluops
