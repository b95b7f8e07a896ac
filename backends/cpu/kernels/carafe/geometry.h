// What both directions of CARAFE share: how the map is cut into blocks, and which taps of a window lie on it.
//
// Notation: s*s output pixels, the phases, belong to one input pixel and share its K*K window of input pixels. The mask
// has group*K*K values per output pixel, the taps.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "common/shape.h"
#include "mluops/problem/carafe.h"

namespace mluops::cpu::carafe {

using Shape = mluopsCarafeShape;

inline std::int64_t radius(const Shape& s) {
  return s.kernel / 2;
}
inline std::int64_t taps(const Shape& s) {
  return s.kernel * s.kernel;
}
inline std::int64_t phases(const Shape& s) {
  return s.scale * s.scale;
}
inline std::int64_t mask_row(const Shape& s) {
  return s.group * taps(s);
}

/// How far each phase is from phase 0 where output rows are `row` apart and output pixels `pixel`. A table: kernels
/// need all of them for every window, and two divisions each would take as long as a tenth of a window's arithmetic.
class PhaseOffsets {
 public:
  PhaseOffsets(const Shape& s, std::int64_t row, std::int64_t pixel, Allocator& allocator)
      : offsets_(allocator.allocate<std::int64_t>(phases(s))) {
    if (offsets_ == nullptr) return;  // only measured
    for (std::int64_t phase = 0; phase < phases(s); ++phase)
      offsets_[phase] = phase / s.scale * row + phase % s.scale * pixel;
  }
  std::int64_t operator[](std::int64_t phase) const { return offsets_[phase]; }

 private:
  std::int64_t* offsets_;
};

/// A range of taps along one axis, or of map rows or columns.
struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
  /// Together with `by` more on both sides, as far as they are in [0, n).
  Range widened(std::int64_t by, std::int64_t n) const {
    return {std::max<std::int64_t>(0, begin - by), std::min(n, end + by)};
  }
};

/// Taps k for which at + k - radius lies in `target`; empty ranges have begin >= end.
inline Range taps_into(const Shape& s, std::int64_t at, Range target) {
  return {std::max<std::int64_t>(0, target.begin - at + radius(s)), std::min(s.kernel, target.end - at + radius(s))};
}

/// One task's part of the map: input rows x columns of one image.
struct Block {
  std::int64_t n;
  Range rows, columns;
};

/// What rows and sums may take of 64 parts of the second-level cache. Planes get more: they are transposed in whole
/// rows, which strips would cut.
inline constexpr std::int64_t kCacheParts = 28, kPlanesCacheParts = 56;

/// Size of the parts when n is cut into as few even ones as possible, none above `most`.
inline std::int64_t even_share(std::int64_t n, std::int64_t most) {
  return ceil_div(n, ceil_div(n, most));
}

/// The map cut into blocks: strips of columns narrow enough for the K rows of a window to stay in the second-level
/// cache, bands of rows short enough to feed all threads evenly.
class Blocks {
 public:
  Blocks(const Shape& s, std::int64_t pixel_bytes, int threads, std::int64_t least_rows, std::int64_t most_rows,
         std::int64_t cache_parts = kCacheParts)
      : shape_(s) {
    const std::int64_t fitting = second_cache(cache_parts) / (s.kernel * pixel_bytes) - 2 * radius(s);
    columns_ = even_share(s.w, std::clamp<std::int64_t>(fitting, std::min<std::int64_t>(s.w, 16), s.w));
    strips_ = ceil_div(s.w, columns_);
    const std::int64_t wanted = s.n * s.h * strips_ / (std::int64_t{2} * threads);
    cut_rows(std::clamp(wanted, least_rows, most_rows));
    const bool uneven = count() % threads != 0 && count() < std::int64_t{4} * threads;
    if (uneven && rows_ >= 2 * least_rows) cut_rows(rows_ / 2);
  }

  std::int64_t count() const { return shape_.n * bands_ * strips_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t pixels() const { return rows_ * columns_; }

  Block at(std::int64_t item) const {
    const std::int64_t band = item / strips_ % bands_, strip = item % strips_;
    return {item / (strips_ * bands_),
            {std::min(shape_.h, band * rows_), std::min(shape_.h, (band + 1) * rows_)},
            {std::min(shape_.w, strip * columns_), std::min(shape_.w, (strip + 1) * columns_)}};
  }

 private:
  void cut_rows(std::int64_t most) {
    rows_ = even_share(shape_.h, std::min(shape_.h, most));
    bands_ = ceil_div(shape_.h, rows_);
  }

  const Shape& shape_;
  std::int64_t strips_, columns_, bands_, rows_;
};

/// Output of so many bytes is written with non-temporal stores: it would leave the second-level cache before anyone
/// reads it.
inline std::int64_t non_temporal_from() {
  return second_cache(128);
}

/// Whether so many neighbouring elements are worth non-temporal stores: parts of cache lines cost memory more than many
/// whole ones.
template <class T>
bool long_run(std::int64_t count) {
  return count * static_cast<std::int64_t>(sizeof(T)) >= 4 * kCacheLineBytes;
}

/// Whether to write so large a tensor with non-temporal stores.
inline bool leaves_caches(std::int64_t bytes) {
  return bytes > non_temporal_from();
}

}  // namespace mluops::cpu::carafe
