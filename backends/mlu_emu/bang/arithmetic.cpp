// Sums, products, larger and smaller lanes.
#include <cmath>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/bang/forms.h"
#include "backends/mlu_emu/bang/rounding.h"

namespace mluops::emu::bang {
namespace {

/// Integers wrap around, so they are computed with unsigned.
template <class T, class F>
T wrap(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(f(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
  } else {
    return f(a, b);
  }
}

constexpr auto kAdd = [](auto a, auto b) { return wrap(a, b, [](auto x, auto y) { return x + y; }); };
constexpr auto kSub = [](auto a, auto b) { return wrap(a, b, [](auto x, auto y) { return x - y; }); };
constexpr auto kMul = [](auto a, auto b) { return wrap(a, b, [](auto x, auto y) { return x * y; }); };
constexpr auto kMax = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto kMin = [](auto a, auto b) { return b < a ? b : a; };

}  // namespace

template <class T>
void __bang_add(T* dst, const T* a, const T* b, std::int64_t n) {
  of_vectors(__func__, dst, a, b, n, kAdd);
}
template <class T>
void __bang_sub(T* dst, const T* a, const T* b, std::int64_t n) {
  of_vectors(__func__, dst, a, b, n, kSub);
}
template <class T>
void __bang_mul(T* dst, const T* a, const T* b, std::int64_t n) {
  of_vectors(__func__, dst, a, b, n, kMul);
}
template <class T>
void __bang_maxequal(T* dst, const T* a, const T* b, std::int64_t n) {
  of_vectors(__func__, dst, a, b, n, kMax);
}
template <class T>
void __bang_minequal(T* dst, const T* a, const T* b, std::int64_t n) {
  of_vectors(__func__, dst, a, b, n, kMin);
}
template <class T>
void __bang_add_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  of_value(__func__, dst, a, value, n, kAdd);
}
template <class T>
void __bang_sub_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  of_value(__func__, dst, a, value, n, kSub);
}
template <class T>
void __bang_mul_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  of_value(__func__, dst, a, value, n, kMul);
}
template <class T>
void __bang_cycle_add(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length) {
  of_cycle(__func__, dst, a, b, n, length, kAdd);
}
template <class T>
void __bang_cycle_sub(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length) {
  of_cycle(__func__, dst, a, b, n, length, kSub);
}
template <class T>
void __bang_cycle_mul(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length) {
  of_cycle(__func__, dst, a, b, n, length, kMul);
}

namespace {

/// The sum rounded towards zero: to nearest, and a step back where that went beyond the exact one.
float sum_towards_zero(float a, float b) {
  const float near = a + b, rest = near - a;
  if (std::isinf(near) && std::isfinite(a) && std::isfinite(b)) return std::nextafter(near, 0.0f);
  const float error = (a - (near - rest)) + (b - rest);  // of the rounding, exactly
  return (error < 0 && near > 0) || (error > 0 && near < 0) ? std::nextafter(near, 0.0f) : near;
}
/// A float holds the sum of two bfloat16, or what is beyond their bits.
bfloat16_t sum_towards_zero(bfloat16_t a, bfloat16_t b) {
  const float sum = sum_towards_zero(static_cast<float>(a), static_cast<float>(b));
  return static_cast<float>(to_format<Rounding::kZero>(static_cast<double>(sum), kBfloat16Format));
}
/// In double the sum of two halves is exact.
half sum_towards_zero(half a, half b) {
  const double sum = static_cast<double>(static_cast<float>(a)) + static_cast<double>(static_cast<float>(b));
  const auto near = static_cast<float>(sum);
  const bool beyond = std::fabs(static_cast<double>(near)) > std::fabs(sum);
  return to_half<Rounding::kZero>(beyond ? std::nextafter(near, 0.0f) : near);
}

template <class T>
void cycle_towards_zero(const char* name, T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length,
                        bool subtract) {
  Word word(name);
  word.count(n);
  word.require(length > 0 && n % length == 0, "the count must be a multiple of the cycle");
  word.source(a, n, "first source");
  word.cycled_source(b, length, n);
  word.destination(dst, n);
  for (std::int64_t i = 0; i < n; ++i) {
    const T other = b[i % length];
    dst[i] = sum_towards_zero(a[i], subtract ? -other : other);
  }
}

}  // namespace

template <class T>
void __bang_add_tz(T* dst, const T* a, const T* b, std::int64_t n) {
  cycle_towards_zero(__func__, dst, a, b, n, n, false);
}
template <class T>
void __bang_sub_tz(T* dst, const T* a, const T* b, std::int64_t n) {
  cycle_towards_zero(__func__, dst, a, b, n, n, true);
}
template <class T>
void __bang_cycle_add_tz(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length) {
  cycle_towards_zero(__func__, dst, a, b, n, length, false);
}
template <class T>
void __bang_cycle_sub_tz(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length) {
  cycle_towards_zero(__func__, dst, a, b, n, length, true);
}
template void __bang_add_tz(half*, const half*, const half*, std::int64_t);
template void __bang_add_tz(bfloat16_t*, const bfloat16_t*, const bfloat16_t*, std::int64_t);
template void __bang_add_tz(float*, const float*, const float*, std::int64_t);
template void __bang_sub_tz(half*, const half*, const half*, std::int64_t);
template void __bang_sub_tz(bfloat16_t*, const bfloat16_t*, const bfloat16_t*, std::int64_t);
template void __bang_sub_tz(float*, const float*, const float*, std::int64_t);
template void __bang_cycle_add_tz(half*, const half*, const half*, std::int64_t, std::int64_t);
template void __bang_cycle_add_tz(bfloat16_t*, const bfloat16_t*, const bfloat16_t*, std::int64_t, std::int64_t);
template void __bang_cycle_add_tz(float*, const float*, const float*, std::int64_t, std::int64_t);
template void __bang_cycle_sub_tz(half*, const half*, const half*, std::int64_t, std::int64_t);
template void __bang_cycle_sub_tz(bfloat16_t*, const bfloat16_t*, const bfloat16_t*, std::int64_t, std::int64_t);
template void __bang_cycle_sub_tz(float*, const float*, const float*, std::int64_t, std::int64_t);

template <class T>
void __bang_rem(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  Word word(__func__);
  word.lanes(dst, a, n);
  if constexpr (std::is_integral_v<T>) {
    if (value == 0) word.fault("the divisor must not be 0");
    map(dst, a, n, [=](T x) { return static_cast<T>(static_cast<std::int64_t>(x) % value); });
  } else {
    const Wide<T> wide = value;
    map(dst, a, n, [=](Wide<T> x) { return std::fmod(x, wide); });
  }
}
template <class T>
void __bang_rem(T* dst, const T* a, const T* b, std::int64_t n) {
  Word word(__func__);
  word.lanes(dst, a, b, n);
  map(dst, a, b, n, [&](T x, T y) {
    if (y == 0) word.fault("the divisor must not be 0");
    return static_cast<T>(static_cast<std::int64_t>(x) % y);
  });
}

#define BINARY(T)                                                          \
  template void __bang_add(T*, const T*, const T*, std::int64_t);          \
  template void __bang_sub(T*, const T*, const T*, std::int64_t);          \
  template void __bang_mul(T*, const T*, const T*, std::int64_t);          \
  template void __bang_maxequal(T*, const T*, const T*, std::int64_t);     \
  template void __bang_minequal(T*, const T*, const T*, std::int64_t);     \
  template void __bang_add_scalar(T*, const T*, ValueOf<T>, std::int64_t); \
  template void __bang_sub_scalar(T*, const T*, ValueOf<T>, std::int64_t); \
  template void __bang_mul_scalar(T*, const T*, ValueOf<T>, std::int64_t)
#define CYCLE(T)                                                                      \
  template void __bang_cycle_add(T*, const T*, const T*, std::int64_t, std::int64_t); \
  template void __bang_cycle_sub(T*, const T*, const T*, std::int64_t, std::int64_t); \
  template void __bang_cycle_mul(T*, const T*, const T*, std::int64_t, std::int64_t)
#define NUMBERS(T) \
  BINARY(T);       \
  CYCLE(T)
NUMBERS(char);
NUMBERS(half);
NUMBERS(bfloat16_t);
NUMBERS(float);
NUMBERS(std::int8_t);
NUMBERS(std::uint8_t);
NUMBERS(std::int16_t);
NUMBERS(std::uint16_t);
NUMBERS(std::int32_t);
NUMBERS(std::uint32_t);
template void __bang_rem(half*, const half*, half, std::int64_t);
template void __bang_rem(float*, const float*, float, std::int64_t);
#define REMAINDERS(T)                                      \
  template void __bang_rem(T*, const T*, T, std::int64_t); \
  template void __bang_rem(T*, const T*, const T*, std::int64_t)
REMAINDERS(std::int16_t);
REMAINDERS(std::uint16_t);
REMAINDERS(std::int32_t);
REMAINDERS(std::uint32_t);

}  // namespace mluops::emu::bang
