// What both directions of CARAFE share: how the map is cut into blocks, and which taps of a window lie on it.
//
// Notation: s*s output pixels, the subs, belong to one input pixel and share its K*K window of input pixels. The mask
// has group*K*K values per output pixel, the taps.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/scratch.h"
#include "common/shape.h"
#include "mluops/problem.h"

namespace mluops::cpu::carafe {

using Shape = mluopsCarafeShape;

inline std::int64_t radius(const Shape& s) {
  return s.kernel / 2;
}
inline std::int64_t taps(const Shape& s) {
  return s.kernel * s.kernel;
}
inline std::int64_t subs(const Shape& s) {
  return s.scale * s.scale;
}
inline std::int64_t mask_row(const Shape& s) {
  return s.group * taps(s);
}

/// Output pixel that is sub 0 of an input pixel.
inline std::int64_t first_sub(const Shape& s, std::int64_t n, std::int64_t row, std::int64_t column) {
  return (n * s.ho + row * s.scale) * s.wo + column * s.scale;
}

/// How far each sub is from sub 0 where output rows are `row` apart and output pixels `pixel`. A table: kernels need
/// all of them for every window, and two divisions each would take as long as a tenth of a window's arithmetic.
class SubOffsets {
 public:
  SubOffsets() = default;
  SubOffsets(const Shape& s, std::int64_t row, std::int64_t pixel, Carver& carver)
      : offsets_(carver.take<std::int64_t>(subs(s))) {
    if (offsets_ == nullptr) return;  // only measured
    for (std::int64_t sub = 0; sub < subs(s); ++sub) offsets_[sub] = sub / s.scale * row + sub % s.scale * pixel;
  }
  std::int64_t operator[](std::int64_t sub) const { return offsets_[sub]; }
  const std::int64_t* all() const { return offsets_; }

 private:
  std::int64_t* offsets_ = nullptr;
};

/// A range of taps along one axis, or of map rows or columns.
struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
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

/// The map cut into blocks: strips of columns narrow enough for the K rows of a window to stay in the second-level
/// cache, bands of rows short enough to feed all threads evenly.
class Blocks {
 public:
  Blocks(const Shape& s, std::int64_t pixel_bytes, int threads, std::int64_t least_rows, std::int64_t most_rows)
      : shape_(s) {
    constexpr std::int64_t kWindowBytes = 448 << 10;
    const std::int64_t fitting = kWindowBytes / (s.kernel * pixel_bytes) - 2 * radius(s);
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
  /// Size of the parts when n is cut into as few even ones as possible, none above `most`.
  static std::int64_t even_share(std::int64_t n, std::int64_t most) { return ceil_div(n, ceil_div(n, most)); }

  void cut_rows(std::int64_t most) {
    rows_ = even_share(shape_.h, std::min(shape_.h, most));
    bands_ = ceil_div(shape_.h, rows_);
  }

  const Shape& shape_;
  std::int64_t strips_, columns_, bands_, rows_;
};

/// Whether to write so large a tensor past the caches.
inline bool past_caches(std::int64_t bytes) {
  return bytes > std::int64_t{2} << 20;
}

/// Time of that many multiply-adds, for the decision how many threads they are worth.
inline double multiply_add_ns(double count) {
  return count / 20.0;
}

}  // namespace mluops::cpu::carafe
