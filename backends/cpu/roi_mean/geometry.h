// What both directions share: the RoIs of a call, the bins they are cut into, the tiles of the map that bins are sorted
// by.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "backends/cpu/roi_mean/roi_mean.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/context.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/sampling/roi.h"
#include "backends/cpu/simd/prefetch.h"
#include "common/shape.h"

namespace mluops::cpu::roi_mean {

/// The map cut into tiles: images, then rows of tiles, then columns. Sides are powers of two.
class Tiles {
 public:
  /// Tiles of at most `tile_bytes`, and `least` of them or more unless the map is tiny.
  Tiles(const Shape& s, std::int64_t sum_bytes, std::int64_t tile_bytes, std::int64_t least) {
    const std::int64_t wanted = std::min(tile_bytes / (s.c * sum_bytes), s.batch * s.h * s.w / least);
    while (h_log_ < 6 && h() * h() * 4 <= wanted) ++h_log_;
    w_log_ = h_log_ + (h() * h() * 2 <= wanted ? 1 : 0);
    rows_ = row_end(s.h);
    cols_ = col_end(s.w);
  }
  std::int64_t h() const { return std::int64_t{1} << h_log_; }
  std::int64_t w() const { return std::int64_t{1} << w_log_; }
  std::int64_t rows() const { return rows_; }  ///< tiles of an image
  std::int64_t cols() const { return cols_; }
  std::int64_t pixels() const { return h() * w(); }  ///< of a tile
  std::int64_t count(const Shape& s) const { return s.batch * rows_ * cols_; }

  std::int64_t row_of(std::int64_t y) const { return y >> h_log_; }
  std::int64_t col_of(std::int64_t x) const { return x >> w_log_; }
  /// Behind the last tile that pixels below y, or x, lie on.
  std::int64_t row_end(std::int64_t y) const { return (y + h() - 1) >> h_log_; }
  std::int64_t col_end(std::int64_t x) const { return (x + w() - 1) >> w_log_; }
  std::int64_t index(std::int64_t batch, std::int64_t row, std::int64_t col) const {
    return (batch * rows_ + row) * cols_ + col;
  }
  /// In another order: images, strips of four rows of tiles, columns of tiles, the four of a column.
  std::int64_t index_in_strips(std::int64_t batch, std::int64_t row, std::int64_t col) const {
    return ((batch * strips() + row / kInStrip) * cols_ + col) * kInStrip + row % kInStrip;
  }
  std::int64_t count_in_strips(const Shape& s) const { return s.batch * strips() * cols_ * kInStrip; }

 private:
  static constexpr std::int64_t kInStrip = 4;
  std::int64_t strips() const { return ceil_div(rows_, kInStrip); }

  int h_log_ = 2, w_log_;
  std::int64_t rows_, cols_;
};

/// Pixels [y0, y1) x [x0, x1) of an image.
struct Area {
  std::int64_t batch, y0, y1, x0, x1;

  Area() = default;
  Area(const Tiles& t, const Shape& s, std::int64_t tile)
      : batch(tile / (t.rows() * t.cols())),
        y0(tile / t.cols() % t.rows() * t.h()),
        y1(std::min(s.h, y0 + t.h())),
        x0(tile % t.cols() * t.w()),
        x1(std::min(s.w, x0 + t.w())) {}
  std::int64_t pixels() const { return (y1 - y0) * (x1 - x0); }
  std::int64_t width() const { return x1 - x0; }
  /// Some of its rows.
  Area part(PixelRange rows) const {
    Area some = *this;
    some.y0 = rows.first;
    some.y1 = rows.last;
    return some;
  }
};

/// A bin, the RoI it is of, and its row and column there.
struct BinPlace {
  std::int64_t bin, roi, row, col;
};

/// The RoIs of a call and where its bins lie.
template <class T>
class Bins {
 public:
  using A = Acc<T>;

  Bins(const Shape& shape, const void* offset, const Roi<A>* rois)
      : s(shape), offset_(static_cast<const T*>(offset)), rois_(rois), plane_(s.pooled_h * s.pooled_w) {}

  const Shape& s;

  std::int64_t count() const { return s.rois * plane_; }
  BinPlace place(std::int64_t bin) const {
    // Less than 2^31 each: narrow divisions are fast ones.
    const auto number = static_cast<std::uint32_t>(bin), plane = static_cast<std::uint32_t>(plane_),
               width = static_cast<std::uint32_t>(s.pooled_w);
    return {bin, number / plane, number % plane / width, number % plane % width};
  }
  /// f(place) for bins begin .. end - 1.
  template <class F>
  void for_each(std::int64_t begin, std::int64_t end, F f) const {
    for (BinPlace at = place(begin); at.bin < end; ++at.bin) {
      f(at);
      if (++at.col < s.pooled_w) continue;
      at.col = 0;
      if (++at.row < s.pooled_h) continue;
      at.row = 0;
      ++at.roi;
    }
  }
  /// Whether bins of a RoI's row have their rows of pixels in common, and bins of a column their columns.
  bool aligned() const { return offset_ == nullptr; }
  const Roi<A>& roi(const BinPlace& at) const { return rois_[at.roi]; }
  /// Size of the RoI that an offset of 1 stands for.
  A reach(A roi_size) const { return static_cast<A>(s.gamma) * roi_size; }
  /// Where the first of the bin's two offsets is, and the distance to the second.
  std::int64_t offset_index(const BinPlace& at) const { return at.bin + at.roi * plane(); }
  std::int64_t plane() const { return plane_; }

  BinAxis<A> y(const BinPlace& at) const {
    const RoiAxis<A>& axis = roi(at).y;
    return {axis, shift(at, plane(), axis.size), at.row};
  }
  BinAxis<A> x(const BinPlace& at) const {
    const RoiAxis<A>& axis = roi(at).x;
    return {axis, shift(at, 0, axis.size), at.col};
  }
  /// Prefetches what y() and x() will read.
  HWY_INLINE void prefetch_bin(const BinPlace& at) const {
    prefetch_bytes(&roi(at), sizeof(Roi<A>));
    if (offset_ == nullptr) return;
    __builtin_prefetch(offset_ + offset_index(at));
    __builtin_prefetch(offset_ + offset_index(at) + plane());
  }
  /// The columns of pixels that the bins of a RoI's row, which begins at `first`, may touch.
  PixelRange columns_of_row(const BinPlace& first) const {
    BinPlace last = first;
    last.col = s.pooled_w - 1;
    return x(first).pixels_to(x(last), s.w);
  }
  /// Pixels a bin reads, about.
  double pixels_read(const BinPlace& at) const {
    const Roi<A>& r = roi(at);
    return per_axis(r.y, s.h) * per_axis(r.x, s.w);
  }

 private:
  A shift(const BinPlace& at, std::int64_t second, A size) const {
    return offset_ == nullptr ? A{0} : reach(size) * to_acc(offset_[offset_index(at) + second]);
  }
  static double per_axis(const RoiAxis<A>& axis, std::int64_t size) {
    const double spread = std::min(std::abs(static_cast<double>(axis.bin)), static_cast<double>(size)) + 2;
    return std::min(2.0 * static_cast<double>(axis.grid), spread);
  }

  const T* offset_;
  const Roi<A>* rois_;
  std::int64_t plane_;
};

/// Rows and columns of pixels one bin reads.
template <class A, class Kind = Tap<A>>
struct BinTaps {
  TapList<A, Kind> y, x;

  BinTaps() = default;
  template <class T>
  BinTaps(const Bins<T>& bins, const BinPlace& at, Kind* scratch)
      : BinTaps(bins, at, {0, bins.s.h}, {0, bins.s.w}, scratch) {}
  /// Only those on some rows and columns.
  template <class T>
  BinTaps(const Bins<T>& bins, const BinPlace& at, PixelRange rows, PixelRange columns, Kind* scratch)
      : y(scratch, bins.y(at), bins.s.h, rows), x(scratch + most_rows(bins.s), bins.x(at), bins.s.w, columns) {}

  static std::int64_t most_rows(const Shape& s) { return most_taps(s.h, s.sampling_ratio); }
  /// Scratch for the taps of a bin, rows then columns.
  static std::int64_t most(const Shape& s) { return most_rows(s) + most_taps(s.w, s.sampling_ratio); }
};

/// The pixels a thread prefetched lately, about as many as its second cache holds: only others are prefetched.
/// What it forgets or takes for known costs time, no more.
class PrefetchedPixels {
 public:
  static constexpr std::int64_t kSize = 2048;
  explicit PrefetchedPixels(std::uint32_t* pixels) : pixels_(pixels) { std::fill_n(pixels, kSize, ~std::uint32_t{0}); }

  /// Prefetches the new pixels of a bin, whose rows are counted from `first_row` of all images.
  template <class T, class Taps>
  HWY_INLINE void prefetch(const Shape& s, const T* input, std::int64_t first_row, const Taps& rows,
                           const Taps& columns) {
    for (const auto& y : rows) {
      const std::int64_t row = (first_row + y.index) * s.w;
      for (const auto& x : columns) {
        if (is_new(row + x.index)) cpu::prefetch<2>(input + (row + x.index) * s.c, s.c);
      }
    }
  }

 private:
  bool is_new(std::int64_t pixel) {
    const auto id = static_cast<std::uint32_t>(pixel);
    return std::exchange(pixels_[id % kSize], id) != id;
  }

  std::uint32_t* pixels_;
};

/// The RoIs of the tensor, read once. False when some bin has more samples than the shape allows.
template <class T>
bool read_rois(const Shape& s, const void* rois, Roi<Acc<T>>* to) {
  const auto* const raw = static_cast<const T*>(rois);
  bool countable = true;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    to[r] = Roi<Acc<T>>::read(raw + 5 * r, s, s.aligned);
    countable = countable && (!s.int32_samples || to[r].countable());
  }
  return countable;
}

inline mluOpStatus_t too_many_samples(const mluopsCall& call) {
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "rois: a bin of a RoI must have less than 2^31 samples");
}

/// The reason to decline a call, nullptr to accept it.
inline const char* declined(const Shape& s) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (const char* const reason = grid_declined(s.sampling_ratio, s.h, s.w)) return reason;
  if (s.rois > kMost / s.pooled_h / s.pooled_w) return "output: it must have less than 2^31 bins";
  return nullptr;
}

/// Output of so many bytes is written with non-temporal stores: it would leave the second-level cache before anyone
/// reads it.
inline std::int64_t pooled_non_temporal_from() {
  return second_cache(16);
}

/// Gradients of so many bytes are written with non-temporal stores, once their tiles hold all that is added.
inline std::int64_t summed_non_temporal_from() {
  return second_cache(32);
}

}  // namespace mluops::cpu::roi_mean
