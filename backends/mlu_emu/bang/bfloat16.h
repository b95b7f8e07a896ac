// The device's bfloat16 as kernels use it: trivial, converts implicitly from numbers and to float, every operation
// rounds once, to nearest even.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/mlu_emu/bang/narrow_operators.h"
#include "common/half.h"

namespace mluops::emu::bang {

struct bfloat16_t {
  std::uint16_t bits;

  bfloat16_t() = default;
  template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>>
  bfloat16_t(A value) : bits(float_to_bfloat16(static_cast<float>(value))) {}  // NOLINT(google-explicit-constructor)
  /// Implicit to float alone, as with half.
  template <class F, class = std::enable_if_t<std::is_same_v<F, float>>>
  operator F() const {  // NOLINT(google-explicit-constructor)
    return bfloat16_to_float(bits);
  }
  template <class A, class = std::enable_if_t<std::is_arithmetic_v<A> && !std::is_same_v<A, float>>, class = void>
  explicit operator A() const {
    return static_cast<A>(bfloat16_to_float(bits));
  }
};

inline bfloat16_t operator-(bfloat16_t a) {
  a.bits ^= 0x8000u;
  return a;
}
MLUOPS_NARROW_OPERATORS(bfloat16_t)
static_assert(std::is_trivial_v<bfloat16_t> && sizeof(bfloat16_t) == 2);

}  // namespace mluops::emu::bang
