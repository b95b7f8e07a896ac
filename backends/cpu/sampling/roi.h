// Where the samples of a RoI's bins fall (deform_roi_pool, roi_align). Coordinates are computed in the type of the
// sums.
//
// The samples of a bin form a grid, and a sample counts or not axis by axis: so the weight of a pixel is the product of
// a row weight and a column weight, each summed over the samples along its axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/cpu/runtime/index.h"
#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/simd/element.h"

namespace mluops::cpu {

/// One axis of a RoI: where it starts, its size, the size of a bin, samples per bin, and the distances of the first and
/// the last of them from the start of the bin.
template <class A>
struct RoiAxis {
  A start, size, bin;
  std::int64_t grid;
  A first, last;

  /// `aligned`: half a pixel is taken off the corners; else the RoI is at least one pixel long.
  RoiAxis(A low, A high, A scale, std::int64_t bins, int sampling_ratio, bool aligned = true) {
    const A shift = aligned ? A{0.5} : A{0};
    start = low * scale - shift;
    size = high * scale - shift - start;
    if (!aligned) size = std::max(size, A{1});
    bin = size / static_cast<A>(bins);
    grid = sampling_ratio > 0 ? sampling_ratio : std::isfinite(size) ? whole(std::ceil(bin)) : 0;
    first = distance(0);
    last = distance(grid - 1);
  }
  /// From the start of a bin to its i-th sample.
  A distance(std::int64_t i) const { return (static_cast<A>(i) + A{0.5}) * bin / static_cast<A>(grid); }
  /// distance(i), without dividing at both ends.
  A sample(std::int64_t i) const { return i == 0 ? first : i == grid - 1 ? last : distance(i); }

 private:
  /// 0, no samples, for nothing positive; the largest int32 for what the device's int32 cannot hold.
  static std::int64_t whole(A count) { return index_of(count, std::int64_t{1} << 31); }
};

template <class A>
struct Roi {
  std::int64_t batch;
  RoiAxis<A> y, x;
  A inverse_count;  ///< 1 / number of samples of a bin, those outside the map included

  /// Whether an int32, as the device has it, counts the samples of a bin.
  bool countable() const { return y.grid * x.grid <= std::numeric_limits<std::int32_t>::max(); }

  template <class T, class Shape>
  static Roi read(const T* roi, const Shape& s, bool aligned = true) {
    const A scale = static_cast<A>(s.spatial_scale);
    RoiAxis<A> y(to_acc(roi[2]), to_acc(roi[4]), scale, s.pooled_h, s.sampling_ratio, aligned);
    RoiAxis<A> x(to_acc(roi[1]), to_acc(roi[3]), scale, s.pooled_w, s.sampling_ratio, aligned);
    if (y.grid == 0 || x.grid == 0) y.grid = x.grid = 0;
    return {index_of(to_acc(roi[0]), s.batch), y, x, A{1} / static_cast<A>(std::max<std::int64_t>(1, y.grid * x.grid))};
  }
};

/// Why RoIs are declined whose samples cannot be counted; nullptr where they can. The number of samples of a bin is an
/// int32, as on the device.
inline const char* grid_declined(int sampling_ratio, std::int64_t h, std::int64_t w) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (sampling_ratio > 46340) return "sampling_ratio: its square must be below 2^31";
  if (h > kMost || w > kMost) return "input: height and width must be below 2^31";
  return nullptr;
}

/// Pixels [first, last) of an axis.
struct PixelRange {
  std::int64_t first, last;
};

/// The samples of one bin along one axis.
template <class A>
struct BinAxis {
  A start, bin;
  std::int64_t grid;
  const RoiAxis<A>& roi;

  BinAxis(const RoiAxis<A>& axis, A shift, std::int64_t index)
      : BinAxis(axis, axis.start + shift + static_cast<A>(index) * axis.bin) {}
  BinAxis(const RoiAxis<A>& axis, A bin_start) : start(bin_start), bin(axis.bin), grid(axis.grid), roi(axis) {}

  A coordinate(std::int64_t i) const { return start + roi.sample(i); }

  struct Range {
    std::int64_t first, last;
  };

  /// The samples [first, last) that can fall on the map. Coordinates never turn back, so that is one run, found by
  /// bisection where the grid is long.
  Range on_map(std::int64_t size) const {
    constexpr std::int64_t kShort = 32;
    if (grid <= kShort) return {0, grid};
    const A far = static_cast<A>(size);
    if (bin >= 0) {
      return {first_where([&](A c) { return c >= -1; }), first_where([&](A c) { return !(c <= far); })};
    }
    return {first_where([&](A c) { return c <= far; }), first_where([&](A c) { return !(c >= -1); })};
  }

  /// The pixel of the map that the middle of the bin lies on or nearest to; the first one for NaN.
  std::int64_t middle(std::int64_t size) const { return index_of(start + bin * A{0.5}, size); }

  /// The pixels that samples on the map may touch.
  PixelRange pixels(std::int64_t size) const { return pixels_to(*this, size); }

  /// Pixels of all bins from this one to `end` of the same RoI.
  PixelRange pixels_to(const BinAxis& end, std::int64_t size) const {
    if (grid <= 0) return {0, 0};
    const A a = coordinate(0), b = end.coordinate(grid - 1);
    const A low = std::min(a, b), high = std::max(a, b);
    if (!(high >= -1 && low <= static_cast<A>(size))) return {0, 0};
    return {index_of(low, size), std::min(size, index_of(high, size) + 2)};
  }

 private:
  template <class Test>
  std::int64_t first_where(Test test) const {
    std::int64_t low = 0, high = grid;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (test(coordinate(middle))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
};

/// What the samples of a bin do with one row (or column) of pixels.
template <class A>
struct Tap {
  std::int32_t index;
  A weight;  ///< sum of interpolation weights
  A lever;   ///< derivative along the other axis: sum of unclamped distances to the opposite neighbour
  A sign;    ///< derivative along this axis: +1 for every sample's high neighbour, -1 for every low one

  void merge(const Tap& other) {
    weight += other.weight;
    lever += other.lever;
    sign += other.sign;
  }
};

/// What is needed of a tap where only values are.
template <class A>
struct WeightTap {
  std::int32_t index;
  A weight;

  WeightTap(std::int32_t i, A w, A = 0, A = 0) : index(i), weight(w) {}
  void merge(const WeightTap& other) { weight += other.weight; }
};

/// Scratch for the taps of one axis: two per sample, and never more than two per pixel.
inline std::int64_t most_taps(std::int64_t size, int sampling_ratio) {
  return sampling_ratio > 0 ? 2 * std::min<std::int64_t>(size, sampling_ratio) : 2 * size;
}

/// The taps of a bin along one axis, those on the pixels [first, last). A kind of tap is made of what Tap is and may
/// keep less of it.
template <class A, class Kind = Tap<A>>
class TapList {
 public:
  TapList() = default;
  /// Taps that were listed before.
  TapList(Kind* taps, std::int64_t count) : taps_(taps), count_(count) {}
  TapList(Kind* taps, const BinAxis<A>& axis, std::int64_t size, PixelRange kept) : taps_(taps), kept_(kept) {
    const auto range = axis.on_map(size);
    for (std::int64_t i = range.first; i < range.last; ++i) add_sample(axis.coordinate(i), size);
  }
  const Kind* begin() const { return taps_; }
  const Kind* end() const { return taps_ + count_; }
  std::int64_t size() const { return count_; }

 private:
  void add_sample(A coordinate, std::int64_t size) {
    AxisSample<A> s;
    if (!sample_axis(coordinate, size, s)) return;
    const auto low = static_cast<std::int32_t>(s.low), high = static_cast<std::int32_t>(s.high);
    if (low == high) {  // what the two do to the other axis, and along this one, cancels exactly
      add({low, s.low_weight, 0, 0});
      add({high, s.high_weight, 0, 0});
      return;
    }
    const Kind first = {low, s.low_weight, static_cast<A>(high) - coordinate, -1};
    const Kind second = {high, s.high_weight, coordinate - static_cast<A>(low), 1};
    if (low > farthest_ && low >= kept_.first && high < kept_.last) {  // nothing to merge with, nothing to drop
      taps_[count_] = first;
      taps_[count_ + 1] = second;
      count_ += 2;
    } else {
      add(first);
      add(second);
    }
    farthest_ = std::max(farthest_, high);
  }

  /// Neighbouring samples share pixels. Zero weights stay apart from others: zero times an infinite pixel is NaN, and
  /// must not vanish in a sum of weights.
  void add(const Kind& tap) {
    if (tap.index < kept_.first || tap.index >= kept_.last) return;
    const std::int64_t recent = std::max<std::int64_t>(0, count_ - 4);
    for (std::int64_t i = count_ - 1; i >= recent; --i) {
      Kind& known = taps_[i];
      if (known.index != tap.index || (known.weight == 0) != (tap.weight == 0)) continue;
      known.merge(tap);
      return;
    }
    taps_[count_++] = tap;
  }

  Kind* taps_ = nullptr;
  PixelRange kept_{};
  std::int32_t farthest_ = -1;  ///< pixel seen
  std::int64_t count_ = 0;
};

}  // namespace mluops::cpu
