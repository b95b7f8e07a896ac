// The device's 16-bit float as kernels use it: trivial, converts implicitly both ways, every operation rounds once, to
// nearest even. An operation of a half with a float, double or integer is done on the unrounded other operand and
// gives a half.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "common/half.h"

namespace mluops::emu::bang {

/// A double rounded once to binary16 bits (by way of a float rounded to odd, which keeps the second rounding exact).
inline std::uint16_t double_to_half(double value) {
  const float near = static_cast<float>(value);
  if (static_cast<double>(near) == value || value != value) return float_to_half(near);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(near);
  if ((bits & 0x7f800000u) == 0x7f800000u) return float_to_half(near);
  const double magnitude = value < 0 ? -value : value;
  const double near_magnitude = near < 0 ? -static_cast<double>(near) : static_cast<double>(near);
  if (near_magnitude > magnitude) --bits;
  return float_to_half(std::bit_cast<float>(bits | 1u));
}

struct half {
  std::uint16_t bits;

  half() = default;
  half(float value) : bits(float_to_half(value)) {}    // NOLINT(google-explicit-constructor)
  half(double value) : bits(double_to_half(value)) {}  // NOLINT(google-explicit-constructor)
  template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
  half(I value) : half(static_cast<double>(value)) {}     // NOLINT(google-explicit-constructor)
  operator float() const { return half_to_float(bits); }  // NOLINT(google-explicit-constructor)

  static half from_bits(std::uint16_t pattern) {
    half h;
    h.bits = pattern;
    return h;
  }
};
static_assert(std::is_trivial_v<half> && sizeof(half) == 2);

inline half operator-(half a) {
  return half::from_bits(a.bits ^ 0x8000u);
}
inline half operator+(half a) {
  return a;
}

template <class A>
using IfArithmetic = std::enable_if_t<std::is_arithmetic_v<A>, half>;

#define MLUOPS_HALF_OPERATOR(op)                                   \
  inline half operator op(half a, half b) {                        \
    return half(static_cast<float>(a) op static_cast<float>(b));   \
  }                                                                \
  template <class A>                                               \
  IfArithmetic<A> operator op(half a, A b) {                       \
    return half(static_cast<double>(a) op static_cast<double>(b)); \
  }                                                                \
  template <class A>                                               \
  IfArithmetic<A> operator op(A a, half b) {                       \
    return half(static_cast<double>(a) op static_cast<double>(b)); \
  }                                                                \
  template <class B>                                               \
  half& operator op##=(half& a, B b) {                             \
    return a = a op b;                                             \
  }
MLUOPS_HALF_OPERATOR(+)
MLUOPS_HALF_OPERATOR(-)
MLUOPS_HALF_OPERATOR(*)
MLUOPS_HALF_OPERATOR(/)
#undef MLUOPS_HALF_OPERATOR

}  // namespace mluops::emu::bang
