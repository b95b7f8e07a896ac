// Comparisons, logic on lanes, bits.
#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/bang/operands.h"

namespace mluops::emu::bang {
namespace {

template <class T, class F>
void compare(const char* name, T* dst, const T* a, const T* b, std::int64_t n, F holds) {
  Word word(name);
  word.lanes(dst, a, b, n);
  map(dst, a, b, n, [=](Wide<T> x, Wide<T> y) { return static_cast<Wide<T>>(holds(x, y)); });
}

template <class T, class F>
void compare_scalar(const char* name, T* dst, const T* a, T value, std::int64_t n, F holds) {
  Word word(name);
  word.lanes(dst, a, n);
  const Wide<T> wide = value;
  map(dst, a, n, [=](Wide<T> x) { return static_cast<Wide<T>>(holds(x, wide)); });
}

template <class F>
void bits(const char* name, void* dst, const void* a, const void* b, std::int64_t bytes, F f) {
  auto* to = static_cast<std::uint8_t*>(dst);
  const auto *x = static_cast<const std::uint8_t*>(a), *y = static_cast<const std::uint8_t*>(b);
  Word word(name);
  word.lanes(to, x, y, bytes);
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
void __bang_not(T* dst, const T* a, std::int64_t n) {
  Word word(__func__);
  word.lanes(dst, a, n);
  map(dst, a, n, [](Wide<T> x) { return static_cast<Wide<T>>(x == 0); });
}

#define LOGIC(T)                                                  \
  template void __bang_and(T*, const T*, const T*, std::int64_t); \
  template void __bang_or(T*, const T*, const T*, std::int64_t);  \
  template void __bang_not(T*, const T*, std::int64_t)
LOGIC(half);
LOGIC(bfloat16_t);
LOGIC(float);
LOGIC(std::int8_t);
LOGIC(std::uint8_t);
LOGIC(std::int16_t);
LOGIC(std::uint16_t);
LOGIC(std::int32_t);
LOGIC(std::uint32_t);

void __bang_band(void* dst, const void* a, const void* b, std::int64_t bytes) {
  bits(__func__, dst, a, b, bytes, [](auto x, auto y) { return x & y; });
}
void __bang_bor(void* dst, const void* a, const void* b, std::int64_t bytes) {
  bits(__func__, dst, a, b, bytes, [](auto x, auto y) { return x | y; });
}
void __bang_bxor(void* dst, const void* a, const void* b, std::int64_t bytes) {
  bits(__func__, dst, a, b, bytes, [](auto x, auto y) { return x ^ y; });
}
void __bang_bnot(void* dst, const void* a, std::int64_t bytes) {
  auto* to = static_cast<std::uint8_t*>(dst);
  const auto* x = static_cast<const std::uint8_t*>(a);
  Word word(__func__);
  word.lanes(to, x, bytes);
  for (std::int64_t i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(~x[i]);
}

template <class T>
void __bang_band_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  Word word(__func__);
  word.lanes(dst, a, n);
  map(dst, a, n, [=](T x) { return static_cast<T>(x & value); });
}
template void __bang_band_scalar(std::int32_t*, const std::int32_t*, std::int32_t, std::int64_t);
template void __bang_band_scalar(std::uint32_t*, const std::uint32_t*, std::uint32_t, std::int64_t);

template <class T>
void __bang_srl(T* dst, const T* a, std::int64_t bits, std::int64_t n) {
  constexpr std::int64_t kBits = 8 * sizeof(T);
  Word word(__func__);
  word.lanes(dst, a, n);
  word.require(bits >= 0 && bits < kBits, "the shift must be less than the lane's bits");
  map(dst, a, n, [=](T x) { return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> bits); });
}
template void __bang_srl(std::int16_t*, const std::int16_t*, std::int64_t, std::int64_t);
template void __bang_srl(std::uint16_t*, const std::uint16_t*, std::int64_t, std::int64_t);
template void __bang_srl(std::int32_t*, const std::int32_t*, std::int64_t, std::int64_t);
template void __bang_srl(std::uint32_t*, const std::uint32_t*, std::int64_t, std::int64_t);

}  // namespace mluops::emu::bang
