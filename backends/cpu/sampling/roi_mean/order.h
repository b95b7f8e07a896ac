// Means of RoIs' bins, forward: the order of bins and, without offset, what the bins of a RoI have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/sampling/roi_mean/geometry.h"
#include "backends/cpu/simd/prefetch.h"

namespace mluops::cpu::roi_mean {

/// Whether RoIs overlap so much, as if they covered the map more than once, that the order of their bins decides how
/// often pixels are fetched.
template <class T>
bool crowded(const Shape& s, const void* rois) {
  const auto extent = [](Acc<T> size, std::int64_t most) {
    return std::min(std::abs(static_cast<double>(size)), static_cast<double>(most));
  };
  double pixels = 0;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const auto roi = Roi<Acc<T>>::read(static_cast<const T*>(rois) + 5 * r, s, s.aligned);
    pixels += extent(roi.y.size, s.h) * extent(roi.x.size, s.w);
  }
  return pixels > static_cast<double>(s.batch * s.h * s.w);
}

/// The map cut into cells, squares whose side is a power of two, which bins are sorted by: images, then strips of four
/// rows of cells, then columns of cells, then the four of a column. So bins next to each other in this order share
/// pixels in the first cache, and those of a square as high as a strip do in the second.
class Cells {
 public:
  Cells(const Shape& s, std::int64_t pixel_bytes, std::int64_t square_bytes) {
    const std::int64_t wanted = std::min(square_bytes / pixel_bytes, s.batch * s.h * s.w / 64);
    while (log_ < 4 && kInStrip * kInStrip * 4 * side() * side() <= wanted) ++log_;
    strips_ = (s.h + kInStrip * side() - 1) / (kInStrip * side());
    cols_ = (s.w + side() - 1) / side();
  }
  std::int64_t count(const Shape& s) const { return s.batch * strips_ * cols_ * kInStrip; }

  /// The number of the cell of a pixel: the part of its row, and the part of its column.
  std::int64_t of_row(std::int64_t batch, std::int64_t y) const {
    const std::int64_t row = y >> log_;
    return (batch * strips_ + row / kInStrip) * cols_ * kInStrip + row % kInStrip;
  }
  std::int64_t of_column(std::int64_t x) const { return (x >> log_) * kInStrip; }

 private:
  static constexpr std::int64_t kInStrip = 4;
  std::int64_t side() const { return std::int64_t{1} << log_; }

  int log_ = 0;
  std::int64_t strips_, cols_;
};

/// Most samples of a bin along each axis, whatever the RoI.
struct MostSamples {
  std::int64_t y, x;
};

template <class T>
MostSamples most_samples(const Shape& s, const void* rois) {
  if (s.sampling_ratio > 0) return {s.sampling_ratio, s.sampling_ratio};
  MostSamples most{1, 1};
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const auto roi = Roi<Acc<T>>::read(static_cast<const T*>(rois) + 5 * r, s, s.aligned);
    most.y = std::max(most.y, roi.y.grid);
    most.x = std::max(most.x, roi.x.grid);
  }
  return most;
}

/// Places for the taps of some bins along one axis. The first place of each bin holds how many there are.
template <class A, class Kind = WeightTap<A>>
struct TapLists {
  using Tap = Kind;
  Kind* first;
  std::int64_t apart;

  Kind* operator[](std::int64_t bin) const { return first + bin * apart; }
  TapLists from(std::int64_t bin) const { return {(*this)[bin], apart}; }

  /// Pixels are counted from `before` pixels earlier.
  void list(std::int64_t bin, const BinAxis<A>& axis, std::int64_t size, std::int32_t before) const {
    Kind* const places = (*this)[bin];
    const TapList<A, Kind> taps(places + 1, axis, size, {0, size});
    for (std::int64_t i = 1; i <= taps.size(); ++i) places[i].index += before;
    places->index = static_cast<std::int32_t>(taps.size());
  }
  void set_size(std::int64_t bin, std::int32_t size) const { (*this)[bin]->index = size; }
  /// The last two of `size` taps, which lie there as they do in memory.
  void put_last_two(std::int64_t bin, std::int32_t size, const A* two) const {
    static_assert(sizeof(A) != 4 || sizeof(WeightTap<A>) == 8);
    std::memcpy(static_cast<void*>((*this)[bin] + size - 1), two, 2 * sizeof(WeightTap<A>));
  }
};

/// The taps of the bins of some RoIs, and the cells that the middles of all bins lie in. Without offset they are those
/// of the rows and of the columns of bins. Rows of pixels are those of all images, one image after the other.
template <class A>
class RoiTaps {
 public:
  using Taps = std::span<const WeightTap<A>>;

  /// `places`: for as many RoIs. `sorts`: whether there are cells.
  RoiTaps(Allocator& allocator, const Shape& s, bool offset, const MostSamples& most, std::int64_t places, bool sorts)
      : h_(s.pooled_h),
        w_(s.pooled_w),
        map_h_(s.h),
        shared_(!offset),
        row_taps_(1 + 2 * std::min(s.h, most.y)),
        column_taps_(1 + 2 * std::min(s.w, most.x)),
        per_roi_(shared_ ? h_ * row_taps_ + w_ * column_taps_ : h_ * w_ * (row_taps_ + column_taps_)),
        kept_(per_roi_ <= kMostPerRoi && s.batch * s.h * s.w <= std::numeric_limits<std::int32_t>::max()),
        taps_(allocator.allocate<WeightTap<A>>(kept_ ? places : 0, per_roi_)),
        cells_(allocator.allocate<std::int32_t>(kept_ && sorts ? s.rois : 0, cells_per_roi())) {}

  /// Not where the taps would take much memory: then bins have so many that finding them matters little.
  bool kept() const { return kept_; }
  /// Whether bins have them row by row and column by column.
  bool shared() const { return kept_ && shared_; }

  TapLists<A> rows(std::int64_t place) const {
    return {taps_ + place * per_roi_, row_taps_ + (shared_ ? 0 : column_taps_)};
  }
  TapLists<A> columns(std::int64_t place) const {
    return {taps_ + place * per_roi_ + (shared_ ? h_ : 1) * row_taps_, column_taps_ + (shared_ ? 0 : row_taps_)};
  }
  /// The number of an image's first row of pixels.
  std::int64_t first_row(std::int64_t batch) const { return batch * map_h_; }
  /// The parts of the cells: of rows of bins, then of columns; or the cells of all bins.
  std::int32_t* cells(std::int64_t roi) const { return cells_ + roi * cells_per_roi(); }

  /// Taps of a bin, if its RoI is where its number says.
  Taps rows_of(const BinPlace& at) const { return listed(row(at)); }
  Taps columns_of(const BinPlace& at) const { return listed(column(at)); }

  /// Prefetches both.
  HWY_INLINE void prefetch_bin(const BinPlace& at) const {
    prefetch(row(at), row_taps_);
    prefetch(column(at), column_taps_);
  }

  /// put(bin, cell) for the bins of a RoI's row.
  template <class Put>
  HWY_INLINE void for_each_cell(std::int64_t roi, std::int64_t row, Put put) const {
    const std::int64_t first = (roi * h_ + row) * w_;
    const std::int32_t* const of_roi = cells(roi);
    const std::int32_t* const columns = shared_ ? of_roi + h_ : of_roi + row * w_;
    const std::int64_t of_row = shared_ ? of_roi[row] : 0;
    for (std::int64_t i = 0; i < w_; ++i) put(first + i, of_row + columns[i]);
  }

 private:
  static constexpr std::int64_t kMostPerRoi = 512;

  std::int64_t cells_per_roi() const { return shared_ ? h_ + w_ : h_ * w_; }
  WeightTap<A>* row(const BinPlace& at) const {
    return taps_ + (shared_ ? at.roi * per_roi_ + at.row * row_taps_ : at.bin * (row_taps_ + column_taps_));
  }
  WeightTap<A>* column(const BinPlace& at) const {
    return shared_ ? taps_ + at.roi * per_roi_ + h_ * row_taps_ + at.col * column_taps_ : row(at) + row_taps_;
  }

  static Taps listed(const WeightTap<A>* first) { return {first + 1, static_cast<std::size_t>(first->index)}; }

  std::int64_t h_, w_, map_h_;
  bool shared_;
  std::int64_t row_taps_, column_taps_;  ///< with the place before them
  std::int64_t per_roi_;                 ///< places
  bool kept_;
  WeightTap<A>* taps_;
  std::int32_t* cells_;
};

}  // namespace mluops::cpu::roi_mean
