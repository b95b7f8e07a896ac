// Element types of tensors as C++ types, and the type sums are kept in.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/cpu/runtime/context.h"
#include "common/half.h"
#include "mlu_op_types.h"

namespace mluops::cpu {

struct Half {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};

/// Sums of half, bfloat16 and float are kept in float, sums of double in double.
template <class T>
using Acc = std::conditional_t<std::is_same_v<T, double>, double, float>;

inline float to_acc(Half x) {
  return half_to_float(x.bits);
}
inline float to_acc(Bfloat16 x) {
  return bfloat16_to_float(x.bits);
}
inline float to_acc(float x) {
  return x;
}
inline double to_acc(double x) {
  return x;
}

/// Rounds to nearest even where T is narrower than its sums.
template <class T>
T from_acc(Acc<T> x) {
  if constexpr (std::is_same_v<T, Half>) {
    return Half{float_to_half(x)};
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return Bfloat16{float_to_bfloat16(x)};
  } else {
    return x;
  }
}

template <class T>
struct TypeTag {
  using type = T;
};

/// f(TypeTag<element type>), which returns a status; NOT_SUPPORTED for a dtype with no floating-point arithmetic here.
template <class F>
mluOpStatus_t with_element(const mluopsCall& call, mluOpDataType_t dtype, F&& f) {
  switch (dtype) {
    case MLUOP_DTYPE_HALF:
      return f(TypeTag<Half>{});
    case MLUOP_DTYPE_FLOAT:
      return f(TypeTag<float>{});
    case MLUOP_DTYPE_BFLOAT16:
      return f(TypeTag<Bfloat16>{});
    case MLUOP_DTYPE_DOUBLE:
      return f(TypeTag<double>{});
    default:
      return dtype_not_supported(call);
  }
}

}  // namespace mluops::cpu
