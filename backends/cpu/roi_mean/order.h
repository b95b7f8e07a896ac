// Means of RoIs' bins, forward: the order of bins and, without offset, what the bins of a RoI have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "backends/cpu/roi_mean/geometry.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/simd/prefetch.h"

namespace mluops::cpu::roi_mean {

/// Pixels that RoIs cover, each counted by itself.
template <class T>
double covered_pixels(const Shape& s, const void* rois) {
  const auto extent = [](Acc<T> size, std::int64_t most) {
    return std::min(std::abs(static_cast<double>(size)), static_cast<double>(most));
  };
  double pixels = 0;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const auto roi = Roi<Acc<T>>::read(static_cast<const T*>(rois) + 5 * r, s, s.aligned);
    pixels += extent(roi.y.size, s.h) * extent(roi.x.size, s.w);
  }
  return pixels;
}

/// Whether RoIs overlap so much, as if they covered the map more than once, that the order of their bins decides how
/// often pixels are fetched.
template <class T>
bool crowded(const Shape& s, const void* rois) {
  return covered_pixels<T>(s, rois) > static_cast<double>(s.batch * s.h * s.w);
}

/// Most samples of a bin along each axis, whatever the RoI.
template <class T>
struct LargestBin {
  std::int64_t y_samples = 1, x_samples = 1;

  LargestBin(const Shape& s, const void* rois) {
    if (s.sampling_ratio > 0) {
      y_samples = x_samples = s.sampling_ratio;
      return;
    }
    for (std::int64_t r = 0; r < s.rois; ++r) {
      const auto roi = Roi<Acc<T>>::read(static_cast<const T*>(rois) + 5 * r, s, s.aligned);
      y_samples = std::max(y_samples, roi.y.grid);
      x_samples = std::max(x_samples, roi.x.grid);
    }
  }
};

template <class A>
std::span<const WeightTap<A>> listed(const WeightTap<A>* list) {
  return {list + 1, static_cast<std::size_t>(list->index)};
}

/// Places for the taps of some bins along one axis. The first place of each bin holds how many there are.
template <class A>
struct TapLists {
  WeightTap<A>* first;
  std::int64_t apart;

  WeightTap<A>* operator[](std::int64_t bin) const { return first + bin * apart; }
  TapLists from(std::int64_t bin) const { return {(*this)[bin], apart}; }
  std::span<const WeightTap<A>> taps(std::int64_t bin) const { return listed<A>((*this)[bin]); }

  void list(std::int64_t bin, const BinAxis<A>& axis, std::int64_t size) const {
    const TapList<A, WeightTap<A>> taps((*this)[bin] + 1, axis, size, {0, size});
    set_size(bin, static_cast<std::int32_t>(taps.size()));
  }
  void set_size(std::int64_t bin, std::int32_t size) const { (*this)[bin]->index = size; }
  /// The last two of `size` taps, which lie there as they do in memory.
  void put_last_two(std::int64_t bin, std::int32_t size, const A* two) const {
    static_assert(sizeof(A) != 4 || sizeof(WeightTap<A>) == 8);
    std::memcpy(static_cast<void*>((*this)[bin] + size - 1), two, 2 * sizeof(WeightTap<A>));
  }
};

/// The taps of the bins of some RoIs, those of a RoI at its place. Without offset they are those of the rows and of the
/// columns of bins.
template <class A>
class RoiTaps {
 public:
  template <class T>
  RoiTaps(Allocator& allocator, const Shape& s, bool offset, const LargestBin<T>& most, std::int64_t places)
      : w_(s.pooled_w),
        shared_(!offset),
        row_taps_(1 + 2 * std::min(s.h, most.y_samples)),
        column_taps_(1 + 2 * std::min(s.w, most.x_samples)),
        columns_(shared_ ? s.pooled_h * row_taps_ : row_taps_),
        per_roi_(shared_ ? columns_ + w_ * column_taps_ : s.pooled_h * w_ * (row_taps_ + column_taps_)),
        taps_(allocator.allocate<WeightTap<A>>(places, per_roi_)) {}

  /// Whether bins have them row by row and column by column.
  bool shared() const { return shared_; }

  TapLists<A> rows(std::int64_t place) const {
    return {taps_ + place * per_roi_, row_taps_ + (shared_ ? 0 : column_taps_)};
  }
  TapLists<A> columns(std::int64_t place) const {
    return {taps_ + place * per_roi_ + columns_, column_taps_ + (shared_ ? 0 : row_taps_)};
  }

  /// Which of a place's rows and columns a bin has.
  std::int64_t row_of(const BinPlace& at) const { return shared_ ? at.row : at.row * w_ + at.col; }
  std::int64_t column_of(const BinPlace& at) const { return shared_ ? at.col : at.row * w_ + at.col; }

  HWY_INLINE void prefetch_lists(std::int64_t place, std::int64_t row, std::int64_t column) const {
    prefetch(rows(place)[row], row_taps_);
    prefetch(columns(place)[column], column_taps_);
  }

 private:
  std::int64_t w_;
  bool shared_;
  std::int64_t row_taps_, column_taps_;  ///< with the place before them
  std::int64_t columns_, per_roi_;       ///< places
  WeightTap<A>* taps_;
};

/// Whether the taps of all RoIs take no more memory than the map: those of a large bin are many.
template <class T>
bool taps_fit(const Shape& s, const void* rois, bool offset) {
  using A = Acc<T>;
  Allocator measure;
  static_cast<void>(RoiTaps<A>(measure, s, offset, LargestBin<T>(s, rois), s.rois));
  const std::int64_t map = std::max(s.batch * s.h * s.w * s.c, std::int64_t{1} << 20);
  return measure.bytes() <= map * static_cast<std::int64_t>(sizeof(A));
}

}  // namespace mluops::cpu::roi_mean
