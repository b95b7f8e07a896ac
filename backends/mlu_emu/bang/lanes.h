// Loops over lanes. Halves are widened to float in blocks, computed on, and rounded back: one rounding per operation,
// as float is wide enough that rounding a sum, difference, product or quotient twice changes nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/mlu_emu/bang/half.h"

namespace mluops::emu::bang {

void widen(const half* from, float* to, std::int64_t n);
void narrow(const float* from, half* to, std::int64_t n);

inline constexpr std::int64_t kBlock = 256;

/// What a lane function sees: float for half lanes, else the lane itself.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, half>, float, T>;

/// Calls visit(begin, count) for blocks of [0, n).
template <class Visit>
void for_blocks(std::int64_t n, Visit&& visit) {
  for (std::int64_t begin = 0; begin < n; begin += kBlock) visit(begin, std::min(kBlock, n - begin));
}

/// dst[i] = f(a[i]).
template <class T, class F>
void map(T* dst, const T* a, std::int64_t n, F f) {
  if constexpr (std::is_same_v<T, half>) {
    for_blocks(n, [&](std::int64_t at, std::int64_t count) {
      float x[kBlock];
      widen(a + at, x, count);
      for (std::int64_t i = 0; i < count; ++i) x[i] = f(x[i]);
      narrow(x, dst + at, count);
    });
  } else {
    for (std::int64_t i = 0; i < n; ++i) dst[i] = f(a[i]);
  }
}

/// dst[i] = f(a[i], b[i]).
template <class T, class F>
void map(T* dst, const T* a, const T* b, std::int64_t n, F f) {
  if constexpr (std::is_same_v<T, half>) {
    for_blocks(n, [&](std::int64_t at, std::int64_t count) {
      float x[kBlock], y[kBlock];
      widen(a + at, x, count);
      widen(b + at, y, count);
      for (std::int64_t i = 0; i < count; ++i) x[i] = f(x[i], y[i]);
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
