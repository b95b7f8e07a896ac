// Vector registers: values of type vv_float and so on, and the words that work on them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/mlu_emu/bang/half.h"

namespace mluops::emu::bang {

inline constexpr unsigned kVectorRegisterBytes = 256;

template <class T>
struct VectorRegister {
  static constexpr unsigned kLanes = kVectorRegisterBytes / sizeof(T);
  T lane[kLanes];
};
using vv_half = VectorRegister<half>;
using vv_float = VectorRegister<float>;
using vv_int16 = VectorRegister<std::int16_t>;
using vv_uint16 = VectorRegister<std::uint16_t>;
using vv_int32 = VectorRegister<std::int32_t>;
using vv_uint32 = VectorRegister<std::uint32_t>;

/// Bytes of a register.
inline unsigned __vv_get_length() {
  return kVectorRegisterBytes;
}

namespace vector_registers {

/// What a lane's arithmetic is done in: integers wrap around.
template <class T>
using Number = std::conditional_t<std::is_integral_v<T>, std::uint32_t, T>;

template <class T, class F>
void each(VectorRegister<T>& dst, F f) {
  for (unsigned i = 0; i < VectorRegister<T>::kLanes; ++i) dst.lane[i] = static_cast<T>(f(i));
}
template <class T>
Number<T> lane(const VectorRegister<T>& r, unsigned i) {
  return static_cast<Number<T>>(r.lane[i]);
}
template <class T, class V>
std::enable_if_t<!std::is_class_v<V> || std::is_same_v<V, half>, Number<T>> lane_of(V value, unsigned) {
  return static_cast<Number<T>>(static_cast<T>(value));
}
template <class T>
Number<T> lane_of(const VectorRegister<T>& r, unsigned i) {
  return lane(r, i);
}

}  // namespace vector_registers

/// Every lane, from a register or from one number.
template <class T, class V>
void __vv_move(VectorRegister<T>& dst, const V& value) {
  vector_registers::each(dst, [&](unsigned i) { return vector_registers::lane_of<T>(value, i); });
}
/// Lane i: start + i * step.
template <class T, class Start, class Step>
void __vv_index(VectorRegister<T>& dst, Start start, Step step) {
  using N = vector_registers::Number<T>;
  const N from = static_cast<N>(static_cast<T>(start)), by = static_cast<N>(static_cast<T>(step));
  vector_registers::each(dst, [&](unsigned i) { return from + static_cast<N>(static_cast<T>(i)) * by; });
}
// dst = a op b; b is a register or a number.
#define MLUOPS_EMU_VECTOR_WORD(name, op)                                                                         \
  template <class T, class V>                                                                                    \
  void __vv_##name(VectorRegister<T>& dst, const VectorRegister<T>& a, const V& b) {                             \
    const VectorRegister<T> from = a;                                                                            \
    vector_registers::each(                                                                                      \
        dst, [&](unsigned i) { return vector_registers::lane(from, i) op vector_registers::lane_of<T>(b, i); }); \
  }
MLUOPS_EMU_VECTOR_WORD(add, +)
MLUOPS_EMU_VECTOR_WORD(sub, -)
MLUOPS_EMU_VECTOR_WORD(mul, *)
#undef MLUOPS_EMU_VECTOR_WORD

/// The first n lanes to NRAM and back.
template <class T>
void __vv_store(T* nram, const VectorRegister<T>& src, std::int64_t n);
template <class T>
void __vv_load(VectorRegister<T>& dst, const T* nram, std::int64_t n);
template <class T>
void __vv_store(T* nram, const VectorRegister<T>& src) {
  __vv_store(nram, src, VectorRegister<T>::kLanes);
}
template <class T>
void __vv_load(VectorRegister<T>& dst, const T* nram) {
  __vv_load(dst, nram, VectorRegister<T>::kLanes);
}

}  // namespace mluops::emu::bang
