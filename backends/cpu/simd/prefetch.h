// Prefetching.
#pragma once

#include <hwy/base.h>

#include <algorithm>
#include <cstdint>

#include "common/shape.h"

namespace mluops::cpu {

/// Elements from the start of p's cache line to p.
template <class T>
inline std::int64_t in_line(const T* p) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % 64 / sizeof(T));
}

/// Prefetches all cache lines of `bytes` bytes, for the first cache or (kLocality 2) the second, to which more requests
/// can be under way. Touching memory outside a tensor this way is harmless. Inlined, since a compiler may drop calls of
/// what does nothing but prefetch.
template <int kLocality = 3>
HWY_INLINE void prefetch_bytes(const void* from, std::int64_t bytes) {
  const auto* const first = static_cast<const char*>(from);
  for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(first + i, 0, kLocality);
  __builtin_prefetch(first + bytes - 1, 0, kLocality);  // one more line where the first one begins before `from`
}

/// Prefetches n elements.
template <int kLocality = 3, class T>
HWY_INLINE void prefetch(const T* from, std::int64_t n) {
  prefetch_bytes<kLocality>(from, n * static_cast<std::int64_t>(sizeof(T)));
}

/// Prefetches a part of a row, of which the next part is prefetched as well: kBytes bytes in steps of a line, without a
/// look at where lines begin.
template <std::size_t kBytes, int kLocality = 3>
HWY_INLINE void prefetch_part(const void* from) {
  for (std::size_t i = 0; i < kBytes; i += 64) __builtin_prefetch(static_cast<const char*>(from) + i, 0, kLocality);
}

/// Memory that is prefetched in equal steps while something else is worked on: the core drops requests when many are
/// under way.
class PrefetchStream {
 public:
  /// `count` elements from `from` on.
  template <class T>
  PrefetchStream(const T* from, std::int64_t count, std::int64_t steps)
      : next_(reinterpret_cast<const char*>(from)),
        end_(next_ + count * static_cast<std::int64_t>(sizeof(T))),
        share_(round_up(ceil_div(end_ - next_, steps), 64)) {}

  HWY_INLINE void step() {
    const std::int64_t left = end_ - next_, bytes = left < share_ ? left : share_;
    prefetch_bytes<2>(next_, bytes);
    next_ += bytes;
  }
  /// Step i, before any other.
  HWY_INLINE void step(std::int64_t i) {
    const std::int64_t bytes = end_ - next_, begin = i * share_;
    next_ += begin < bytes ? begin : bytes;
    step();
  }

 private:
  const char *next_, *end_;
  std::int64_t share_;
};

/// Prefetches runs of planes that lie far apart: with each step some planes' runs, from the start of a line on.
class PrefetchPlanes {
 public:
  PrefetchPlanes() = default;
  /// `run` elements from `first` and `planes` - 1 times `plane` elements further, in so many steps; then, for each of
  /// `rows`, the same `row` elements further.
  template <class T>
  PrefetchPlanes(const T* first, std::int64_t plane, std::int64_t planes, std::int64_t run, std::int64_t steps,
                 std::int64_t row = 0, std::int64_t rows = 1)
      : first_(reinterpret_cast<const char*>(first)),
        plane_(plane * static_cast<std::int64_t>(sizeof(T))),
        planes_(planes),
        run_(run * static_cast<std::int64_t>(sizeof(T))),
        row_(row * static_cast<std::int64_t>(sizeof(T))),
        left_(planes * rows),
        share_(ceil_div(planes * rows, steps)) {}

  HWY_INLINE void step() {
    for (std::int64_t i = std::min(share_, left_); i > 0; --i, --left_) {
      prefetch_bytes<2>(first_ + done_ * plane_, run_);
      if (++done_ == planes_) done_ = 0, first_ += row_;
    }
  }

 private:
  const char* first_ = nullptr;
  std::int64_t plane_ = 0, planes_ = 0, run_ = 0, row_ = 0, left_ = 0, share_ = 0;
  std::int64_t done_ = 0;  ///< planes of a row
};

}  // namespace mluops::cpu
