// IEEE binary16 and bfloat16 as bits, converted one value at a time. In C++17, which kernel files are compiled as.
#pragma once

#include <cstdint>

namespace mluops {

/// Exact.
inline float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1f) return __builtin_bit_cast(float, sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return __builtin_bit_cast(float, sign | __builtin_bit_cast(std::uint32_t, magnitude));
  }
  return __builtin_bit_cast(float, sign | ((exponent + 112) << 23) | (fraction << 13));
}

/// Rounds to nearest, ties to even; overflow gives infinity, NaN stays a (quiet) NaN.
inline std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // >= 65520
  if (magnitude < 0x38800000u) {                                                    // below 2^-14: subnormal
    // Adding 0.5 leaves the value's multiples of 2^-24 in the low fraction bits, rounded by the addition.
    const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (__builtin_bit_cast(std::uint32_t, shifted) - 0x3f000000u));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

/// Exact.
inline float bfloat16_to_float(std::uint16_t bits) {
  return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
}

/// Rounds to nearest, ties to even.
inline std::uint16_t float_to_bfloat16(float value) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace mluops
