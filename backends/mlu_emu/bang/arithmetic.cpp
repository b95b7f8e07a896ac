// Sums, products, larger and smaller lanes.
#include <bit>
#include <cmath>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/bang/operands.h"

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

template <class T, class F>
void binary(const char* name, T* dst, const T* a, const T* b, std::int64_t n, F f) {
  Word(name).lanes(dst, a, b, n);
  map(dst, a, b, n, f);
}

template <class T, class F>
void with_scalar(const char* name, T* dst, const T* a, T value, std::int64_t n, F f) {
  Word(name).lanes(dst, a, n);
  const Wide<T> wide = value;
  map(dst, a, n, [=](Wide<T> x) { return f(x, wide); });
}

template <class T, class F>
void cycle(const char* name, T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length, F f) {
  const Word word(name);
  word.count(n);
  word.require(length > 0 && n % length == 0, "the count must be a multiple of the cycle");
  word.source(a, n, "first source");
  word.source(b, length, "cycled source");
  word.destination(dst, n);
  for (std::int64_t at = 0; at < n; at += length) map(dst + at, a + at, b, length, f);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void fused_hardware(float* dst, const float* a, float scale, const float* c,
                                                        std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dst[i] = __builtin_fmaf(a[i], scale, c[i]);
}
const bool kHardwareFma = __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;
#endif

void fused(float* dst, const float* a, float scale, const float* c, std::int64_t n) {
#if defined(__x86_64__)
  if (kHardwareFma) return fused_hardware(dst, a, scale, c, n);
#endif
  for (std::int64_t i = 0; i < n; ++i) dst[i] = std::fma(a[i], scale, c[i]);
}

/// a + b rounded to odd: rounding that once more to half gives what rounding the exact sum once would. No branches, so
/// that loops over it become vector code.
float add_to_odd(float a, float b) {
  const float sum = a + b;
  // Knuth's two-sum: a + b equals sum + error exactly. With Inf or NaN the error is NaN and nothing happens.
  const float back = sum - a;
  const float error = (a - (sum - back)) + (b - back);
  const float outwards = error * sum;  // sums of halves and their products are far from under- and overflow
  const std::int32_t step = (outwards > 0 ? 1 : 0) - (outwards < 0 ? 1 : 0);
  const auto bits = std::bit_cast<std::int32_t>(sum);
  const std::int32_t if_even = (bits & 1) - 1;
  return std::bit_cast<float>(bits + (step & if_even));
}

/// The product of two halves is exact in float.
void fused(half* dst, const half* a, half scale, const half* c, std::int64_t n) {
  const float wide = scale;
  map(dst, a, c, n, [=](float x, float y) { return add_to_odd(x * wide, y); });
}

}  // namespace

template <class T>
void __bang_add(T* dst, const T* a, const T* b, std::int64_t n) {
  binary(__func__, dst, a, b, n, kAdd);
}
template <class T>
void __bang_sub(T* dst, const T* a, const T* b, std::int64_t n) {
  binary(__func__, dst, a, b, n, kSub);
}
template <class T>
void __bang_mul(T* dst, const T* a, const T* b, std::int64_t n) {
  binary(__func__, dst, a, b, n, kMul);
}
template <class T>
void __bang_maxequal(T* dst, const T* a, const T* b, std::int64_t n) {
  binary(__func__, dst, a, b, n, kMax);
}
template <class T>
void __bang_minequal(T* dst, const T* a, const T* b, std::int64_t n) {
  binary(__func__, dst, a, b, n, kMin);
}
template <class T>
void __bang_add_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  with_scalar(__func__, dst, a, value, n, kAdd);
}
template <class T>
void __bang_sub_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  with_scalar(__func__, dst, a, value, n, kSub);
}
template <class T>
void __bang_mul_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  with_scalar(__func__, dst, a, value, n, kMul);
}
template <class T>
void __bang_cycle_add(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length) {
  cycle(__func__, dst, a, b, n, length, kAdd);
}
template <class T>
void __bang_cycle_sub(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length) {
  cycle(__func__, dst, a, b, n, length, kSub);
}
template <class T>
void __bang_cycle_mul(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length) {
  cycle(__func__, dst, a, b, n, length, kMul);
}

template <class T>
void __bang_fusion(FusionMode, T* dst, const T* a, ValueOf<T> scale, const T* c, std::int64_t n, std::int64_t length) {
  const Word word(__func__);
  word.count(n);
  word.require(length > 0 && n % length == 0, "the count must be a multiple of the cycle");
  word.source(a, n, "first source");
  word.source(c, length, "cycled source");
  word.destination(dst, n);
  const Wide<T> wide = scale;
  for (std::int64_t at = 0; at < n; at += length) {
    if (word.fused_multiply_add()) {
      fused(dst + at, a + at, scale, c, length);
    } else {
      map(dst + at, a + at, c, length,
          [=](Wide<T> x, Wide<T> y) { return static_cast<Wide<T>>(static_cast<T>(x * wide)) + y; });
    }
  }
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
#define REAL(T)                                                                       \
  template void __bang_cycle_add(T*, const T*, const T*, std::int64_t, std::int64_t); \
  template void __bang_cycle_sub(T*, const T*, const T*, std::int64_t, std::int64_t); \
  template void __bang_cycle_mul(T*, const T*, const T*, std::int64_t, std::int64_t); \
  template void __bang_fusion(FusionMode, T*, const T*, ValueOf<T>, const T*, std::int64_t, std::int64_t)
BINARY(half);
BINARY(float);
BINARY(std::int16_t);
BINARY(std::int32_t);
REAL(half);
REAL(float);

}  // namespace mluops::emu::bang
