// Comparisons, logic on lanes, bits.
#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/bang/operands.h"

namespace mluops::emu::bang {
namespace {

/// 1 or 0, chosen and not converted: that becomes vector code.
template <class T>
T truth(bool holds) {
  return holds ? T(1) : T(0);
}

template <class T, class F>
void compare(const char* name, T* dst, const T* a, const T* b, std::int64_t n, F holds) {
  Word word(name);
  word.lanes(dst, a, b, n);
  const auto compared = [=](Wide<T> x, Wide<T> y) { return truth<Wide<T>>(holds(x, y)); };
  word.settle(a, b, n, compared);
  map(dst, a, b, n, compared);
}

template <class T, class F>
void compare_scalar(const char* name, T* dst, const T* a, T value, std::int64_t n, F holds) {
  Word word(name);
  word.lanes(dst, a, n);
  const Wide<T> wide = value;
  const auto compared = [=](Wide<T> x, Wide<T> y) { return truth<Wide<T>>(holds(x, y)); };
  word.settle(a, n, wide, compared);
  map(dst, a, n, [=](Wide<T> x) { return compared(x, wide); });
}

template <class T, class F>
void bits(const char* name, T* dst, const T* a, const T* b, std::int64_t n, F f) {
  auto* to = reinterpret_cast<std::uint8_t*>(dst);
  const auto *x = reinterpret_cast<const std::uint8_t*>(a), *y = reinterpret_cast<const std::uint8_t*>(b);
  const std::int64_t bytes = bytes_of_lanes<T>(n);
  Word word(name);
  word.lanes(to, x, y, bytes);
  word.settle(x, y, bytes, [=](std::uint8_t p, std::uint8_t q) { return static_cast<std::uint8_t>(f(p, q)); });
  for (std::int64_t i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(f(x[i], y[i]));
}

}  // namespace

#define COMPARISON(name, op)                                                           \
  template <class T>                                                                   \
  void __bang_##name(T* dst, const T* a, const T* b, std::int64_t n) {                 \
    compare(__func__, dst, a, b, n, [](auto x, auto y) { return x op y; });            \
  }                                                                                    \
  template <class T>                                                                   \
  void __bang_##name##_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {  \
    compare_scalar(__func__, dst, a, value, n, [](auto x, auto y) { return x op y; }); \
  }
#define COMPARED(name, T)                                            \
  template void __bang_##name(T*, const T*, const T*, std::int64_t); \
  template void __bang_##name##_scalar(T*, const T*, ValueOf<T>, std::int64_t)
#define COMPARED_ALL(name)       \
  COMPARED(name, char);          \
  COMPARED(name, half);          \
  COMPARED(name, bfloat16_t);    \
  COMPARED(name, float);         \
  COMPARED(name, std::int8_t);   \
  COMPARED(name, std::uint8_t);  \
  COMPARED(name, std::int16_t);  \
  COMPARED(name, std::uint16_t); \
  COMPARED(name, std::int32_t);  \
  COMPARED(name, std::uint32_t)
COMPARISON(eq, ==)
COMPARED_ALL(eq);
COMPARISON(ne, !=)
COMPARED_ALL(ne);
COMPARISON(lt, <)
COMPARED_ALL(lt);
COMPARISON(le, <=)
COMPARED_ALL(le);
COMPARISON(gt, >)
COMPARED_ALL(gt);
COMPARISON(ge, >=)
COMPARED_ALL(ge);

template <class T>
void __bang_and(T* dst, const T* a, const T* b, std::int64_t n) {
  compare(__func__, dst, a, b, n, [](auto x, auto y) { return (x != 0) & (y != 0); });
}
template <class T>
void __bang_or(T* dst, const T* a, const T* b, std::int64_t n) {
  compare(__func__, dst, a, b, n, [](auto x, auto y) { return (x != 0) | (y != 0); });
}
template <class T>
void __bang_xor(T* dst, const T* a, const T* b, std::int64_t n) {
  compare(__func__, dst, a, b, n, [](auto x, auto y) { return (x != 0) != (y != 0); });
}
template <class T>
void __bang_not(T* dst, const T* a, std::int64_t n) {
  Word word(__func__);
  word.lanes(dst, a, n);
  map(dst, a, n, [](Wide<T> x) { return truth<Wide<T>>(x == 0); });
}

#define LOGIC(T)                                                  \
  template void __bang_and(T*, const T*, const T*, std::int64_t); \
  template void __bang_or(T*, const T*, const T*, std::int64_t);  \
  template void __bang_xor(T*, const T*, const T*, std::int64_t); \
  template void __bang_not(T*, const T*, std::int64_t)
LOGIC(char);
LOGIC(half);
LOGIC(bfloat16_t);
LOGIC(float);
LOGIC(std::int8_t);
LOGIC(std::uint8_t);
LOGIC(std::int16_t);
LOGIC(std::uint16_t);
LOGIC(std::int32_t);
LOGIC(std::uint32_t);

template <class T>
void __bang_band(T* dst, const T* a, const T* b, std::int64_t n) {
  bits(__func__, dst, a, b, n, [](auto x, auto y) { return x & y; });
}
template <class T>
void __bang_bor(T* dst, const T* a, const T* b, std::int64_t n) {
  bits(__func__, dst, a, b, n, [](auto x, auto y) { return x | y; });
}
template <class T>
void __bang_bxor(T* dst, const T* a, const T* b, std::int64_t n) {
  bits(__func__, dst, a, b, n, [](auto x, auto y) { return x ^ y; });
}
template <class T>
void __bang_bnot(T* dst, const T* a, std::int64_t n) {
  bits(__func__, dst, a, a, n, [](auto x, auto) { return ~x; });
}
#define BITS(T)                                                    \
  template void __bang_band(T*, const T*, const T*, std::int64_t); \
  template void __bang_bor(T*, const T*, const T*, std::int64_t);  \
  template void __bang_bxor(T*, const T*, const T*, std::int64_t); \
  template void __bang_bnot(T*, const T*, std::int64_t)
BITS(char);
BITS(half);
BITS(bfloat16_t);
BITS(float);
BITS(std::int8_t);
BITS(std::uint8_t);
BITS(std::int16_t);
BITS(std::uint16_t);
BITS(std::int32_t);
BITS(std::uint32_t);

}  // namespace mluops::emu::bang
