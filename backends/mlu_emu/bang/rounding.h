// How one number becomes an integer or a half, for every direction the words' names know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backends/mlu_emu/bang/half.h"
#include "backends/mlu_emu/bang/words/convert.h"

namespace mluops::emu::bang {

/// The whole number `x` is rounded to; |x| is far below 2^53. No branches, so that loops over it become vector code.
template <Rounding kRounding>
std::int64_t whole(double x) {
  constexpr double kHalf = 0.5;
  const auto cut = static_cast<std::int64_t>(x);
  const double rest = x - static_cast<double>(cut);
  if constexpr (kRounding == Rounding::kDown) return cut - (rest < 0 ? 1 : 0);
  if constexpr (kRounding == Rounding::kUp) return cut + (rest > 0 ? 1 : 0);
  if constexpr (kRounding == Rounding::kAwayFromZero) return cut + (rest > 0 ? 1 : 0) - (rest < 0 ? 1 : 0);
  if constexpr (kRounding == Rounding::kAwayFromTies) return cut + (rest >= kHalf ? 1 : 0) - (rest <= -kHalf ? 1 : 0);
  if constexpr (kRounding == Rounding::kEven) {
    const bool odd = (cut & 1) != 0;
    return cut + ((rest > kHalf) | ((rest == kHalf) & odd) ? 1 : 0) -
           ((rest < -kHalf) | ((rest == -kHalf) & odd) ? 1 : 0);
  }
  return cut;
}

/// Saturates; NaN gives 0.
template <Rounding kRounding, class I>
I to_integer(double value) {
  constexpr double kLow = std::numeric_limits<I>::min(), kHigh = std::numeric_limits<I>::max();
  const double number = value == value ? value : 0.0;
  const std::int64_t rounded = whole<kRounding>(std::max(kLow - 1, std::min(number, kHigh + 1)));
  return static_cast<I>(std::max<std::int64_t>(std::numeric_limits<I>::min(),
                                               std::min<std::int64_t>(rounded, std::numeric_limits<I>::max())));
}

/// The half next to `value` in that direction.
template <Rounding kRounding>
half to_half(float value) {
  const std::uint16_t near = float_to_half(value);
  if (value != value) return half::from_bits(near);
  const float got = half_to_float(near);
  const float size = value < 0 ? -value : value, got_size = got < 0 ? -got : got;
  constexpr bool kTies = kRounding == Rounding::kAwayFromTies;
  if (kTies && got_size < size) {
    const auto next = static_cast<std::uint16_t>(near + 1);
    const float above = half_to_float(next & 0x7fffu);
    return half::from_bits(above - size == size - got_size ? next : near);
  }
  const bool outwards = got_size > size, upwards = got > value, downwards = got < value;
  const int step = kRounding == Rounding::kZero              ? -(outwards ? 1 : 0)
                   : kRounding == Rounding::kAwayFromZero    ? (got_size < size ? 1 : 0)
                   : kRounding == Rounding::kDown && upwards ? (outwards ? -1 : 1)
                   : kRounding == Rounding::kUp && downwards ? (outwards ? -1 : 1)
                                                             : 0;
  return half::from_bits(static_cast<std::uint16_t>(near + step));
}

}  // namespace mluops::emu::bang
