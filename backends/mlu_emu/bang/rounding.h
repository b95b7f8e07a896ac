// How one number becomes an integer or a narrower float, for every direction the builtins' names know.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
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
  if constexpr (kRounding == Rounding::kUpFromTies) return cut + (rest >= kHalf ? 1 : 0) - (rest < -kHalf ? 1 : 0);
  if constexpr (kRounding == Rounding::kEven) {
    const bool odd = (cut & 1) != 0;
    return cut + ((rest > kHalf) | ((rest == kHalf) & odd) ? 1 : 0) -
           ((rest < -kHalf) | ((rest == -kHalf) & odd) ? 1 : 0);
  }
  return cut;
}

/// Saturates between `least` and `most`; NaN gives `nan`.
template <Rounding kRounding>
std::int64_t to_integer_in(double value, std::int64_t least, std::int64_t most, std::int64_t nan) {
  const double number = value == value ? value : static_cast<double>(nan);
  const double low = static_cast<double>(least) - 1, high = static_cast<double>(most) + 1;
  return std::max(least, std::min(whole<kRounding>(std::max(low, std::min(number, high))), most));
}
template <Rounding kRounding, class I>
I to_integer(double value, std::int64_t nan = 0) {
  return static_cast<I>(
      to_integer_in<kRounding>(value, std::numeric_limits<I>::min(), std::numeric_limits<I>::max(), nan));
}

/// A binary type of floats: bits of its significand, exponents of the least and the largest normal number.
struct FloatFormat {
  int precision, least, most;
};
inline constexpr FloatFormat kHalfFormat{11, -14, 15}, kBfloat16Format{8, -126, 127}, kTf32Format{11, -126, 127},
    kFloatFormat{24, -126, 127};

inline double power_of_two(int exponent) {
  constexpr int kBias = 1023, kMantissa = 52;
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kBias) << kMantissa);
}

/// What stands for a number beyond the largest one.
template <Rounding kRounding>
double beyond(double value, double largest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr bool kNever = kRounding == Rounding::kZero;
  const bool stays = kNever || (kRounding == Rounding::kDown && value > 0) || (kRounding == Rounding::kUp && value < 0);
  return std::copysign(stays ? largest : kInfinity, value);
}

/// The number of that type next to `value` in that direction.
template <Rounding kRounding>
double to_format(double value, FloatFormat f) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), f.least) - f.precision + 1;
  if (exponent > f.most) return beyond<kRounding>(value, power_of_two(f.most) * (2 - power_of_two(1 - f.precision)));
  const double unit = power_of_two(exponent);
  const double rounded = static_cast<double>(whole<kRounding>(value * power_of_two(-exponent))) * unit;
  const double largest = power_of_two(f.most) * (2 - power_of_two(1 - f.precision));
  return std::fabs(rounded) > largest ? beyond<kRounding>(value, largest) : std::copysign(rounded, value);
}

/// The half next to `value` in that direction.
template <Rounding kRounding>
half to_half(float value) {
  if constexpr (kRounding == Rounding::kEven) return half(value);
  return half(static_cast<float>(to_format<kRounding>(static_cast<double>(value), kHalfFormat)));
}

}  // namespace mluops::emu::bang
