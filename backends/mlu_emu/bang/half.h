// The device's 16-bit float as kernels use it: trivial, converts implicitly both ways, every operation rounds once, to
// nearest even. An operation of a half with a float, double or integer is done on the unrounded other operand and
// gives a half.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/mlu_emu/bang/narrow_operators.h"
#include "common/half.h"

namespace mluops::emu::bang {

/// A double rounded once to binary16 bits (by way of a float rounded to odd, which keeps the second rounding exact).
inline std::uint16_t double_to_half(double value) {
  const float near = static_cast<float>(value);
  if (static_cast<double>(near) == value || value != value) return float_to_half(near);
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, near);
  if ((bits & 0x7f800000u) == 0x7f800000u) return float_to_half(near);
  const double magnitude = value < 0 ? -value : value;
  const double near_magnitude = near < 0 ? -static_cast<double>(near) : static_cast<double>(near);
  if (near_magnitude > magnitude) --bits;
  return float_to_half(__builtin_bit_cast(float, bits | 1u));
}

struct half {
  std::uint16_t bits;

  half() = default;
  half(float value) : bits(float_to_half(value)) {}    // NOLINT(google-explicit-constructor)
  half(double value) : bits(double_to_half(value)) {}  // NOLINT(google-explicit-constructor)
  template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
  half(I value) : half(static_cast<double>(value)) {}  // NOLINT(google-explicit-constructor)
#if defined(__BANG__)  // cncc gives a 0 between ? and : no type of its own; elsewhere this would be ambiguous
  /// As `const int n = rois[0];` has it: of a variable, not of a value, for `condition ? T(1) : 0`.
  template <class I, class = std::enable_if_t<std::is_same_v<I, int>>, int = 0>
  operator I() & {  // NOLINT(google-explicit-constructor)
    return static_cast<int>(half_to_float(bits));
  }
#endif
  /// Implicit to float alone, so that `condition ? 0 : h` has one meaning, a half, and std::isnan(h) another, a float.
  template <class F, class = std::enable_if_t<std::is_same_v<F, float>>>
  operator F() const {  // NOLINT(google-explicit-constructor)
    return half_to_float(bits);
  }
  template <class A, class = std::enable_if_t<std::is_arithmetic_v<A> && !std::is_same_v<A, float>>, class = void>
  explicit operator A() const {
    return static_cast<A>(half_to_float(bits));
  }

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

MLUOPS_NARROW_OPERATORS(half)

}  // namespace mluops::emu::bang
