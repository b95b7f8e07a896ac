// Loops over lanes. 16-bit floats are widened to float in blocks, computed on, and rounded back: one rounding per
// operation, as float is wide enough that rounding a sum, difference, product or quotient twice changes nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "backends/mlu_emu/bang/bfloat16.h"
#include "backends/mlu_emu/bang/half.h"

namespace mluops::emu::bang {

void widen(const half* from, float* to, std::int64_t n);
void narrow(const float* from, half* to, std::int64_t n);
inline void widen(const bfloat16_t* from, float* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = bfloat16_to_float(from[i].bits);
}
inline void narrow(const float* from, bfloat16_t* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i].bits = float_to_bfloat16(from[i]);
}

inline constexpr std::int64_t kBlock = 256;

template <class T>
inline constexpr bool kNarrow = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;

/// What a lane function sees: float for 16-bit floats, else the lane itself.
template <class T>
using Wide = std::conditional_t<kNarrow<T>, float, T>;

/// A result of finite numbers does not fit a half.
void half_overflowed();
/// Tells of results that become infinite in T only.
template <class T>
void look_for_overflow(const float* results, std::int64_t n) {
  if constexpr (std::is_same_v<T, half>) {
    constexpr float kFirst = 65520;  // rounds to infinity
    int beyond = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const float size = results[i] < 0 ? -results[i] : results[i];
      beyond |= static_cast<int>((size >= kFirst) & (size <= std::numeric_limits<float>::max()));
    }
    if (beyond != 0) half_overflowed();
  }
}

/// Calls visit(begin, count) for blocks of [0, n).
template <class Visit>
void for_blocks(std::int64_t n, Visit&& visit) {
  for (std::int64_t begin = 0; begin < n; begin += kBlock) visit(begin, std::min(kBlock, n - begin));
}

/// The source as it was before the word: set aside where the destination begins within it, as scans in place have it.
template <class T>
const T* before(const T* dst, const T* src, std::int64_t n, std::vector<T>& aside) {
  if (!(src < dst && dst < src + n)) return src;
  aside.assign(src, src + n);
  return aside.data();
}

/// dst[i] = f(a[i]).
template <class T, class F>
void map(T* dst, const T* a, std::int64_t n, F f) {
  std::vector<T> aside;
  a = before(dst, a, n, aside);
  if constexpr (kNarrow<T>) {
    for_blocks(n, [&](std::int64_t at, std::int64_t count) {
      float x[kBlock];
      widen(a + at, x, count);
      for (std::int64_t i = 0; i < count; ++i) x[i] = f(x[i]);
      look_for_overflow<T>(x, count);
      narrow(x, dst + at, count);
    });
  } else {
    for (std::int64_t i = 0; i < n; ++i) dst[i] = f(a[i]);
  }
}

/// dst[i] = f(a[i], b[i]).
template <class T, class F>
void map(T* dst, const T* a, const T* b, std::int64_t n, F f) {
  std::vector<T> aside_a, aside_b;
  a = before(dst, a, n, aside_a);
  b = before(dst, b, n, aside_b);
  if constexpr (kNarrow<T>) {
    for_blocks(n, [&](std::int64_t at, std::int64_t count) {
      float x[kBlock], y[kBlock];
      widen(a + at, x, count);
      widen(b + at, y, count);
      for (std::int64_t i = 0; i < count; ++i) x[i] = f(x[i], y[i]);
      look_for_overflow<T>(x, count);
      narrow(x, dst + at, count);
    });
  } else {
    for (std::int64_t i = 0; i < n; ++i) dst[i] = f(a[i], b[i]);
  }
}

template <class T>
constexpr std::int64_t bytes_of_lanes(std::int64_t n) {
  return n * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace mluops::emu::bang
