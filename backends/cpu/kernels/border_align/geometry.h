// What both directions of border_align share: which borders there are, and which lines of pixels they lie between.
//
// A border lies between two lines of pixels: rows for top and bottom, columns for left and right. The four borders of a
// box have channels of their own, so a line belongs to one border of one image.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/border_align/box_borders.h"
#include "backends/cpu/simd/element.h"
#include "mluops/problem.h"

namespace mluops::cpu::border_align {

using Shape = mluopsBorderAlignShape;

/// The lines of all images and borders, each image and border having room for as many as the longer side.
struct Lines {
  std::int64_t each;

  explicit Lines(const Shape& s) : each(std::max(s.h, s.w)) {}
  std::int64_t count(const Shape& s) const { return s.n * 4 * each; }
  std::int64_t index(std::int64_t image, int border, std::int64_t line) const {
    return (image * 4 + border) * each + line;
  }
};

/// One border out of [n, k, 4], which is also its row of output and argmax.
struct Place {
  std::int64_t image;
  int border;

  Place(const Shape& s, std::int64_t row) : image(row / (4 * s.k)), border(static_cast<int>(row % 4)) {}
};

/// put(row, index of the first of the two lines it lies between, whether it is inside the map) for the borders
/// [begin, end); outside, the index is that of the first line.
template <class T, class Put>
void sort_borders(const Shape& s, const void* boxes, std::int64_t begin, std::int64_t end, Put&& put) {
  const Lines lines(s);
  const std::int64_t across[2] = {s.h, s.w};  // lines of rows and of columns
  std::int64_t image = Place(s, begin).image, image_end = (image + 1) * 4 * s.k;
  for (std::int64_t row = begin; row < end; ++row) {
    if (row == image_end) {
      ++image;
      image_end += 4 * s.k;
    }
    // The coordinate that stays: y1, x1, y2, x2.
    const Acc<T> fixed = to_acc(static_cast<const T*>(boxes)[row ^ 1]);
    AxisSample<Acc<T>> line;
    const bool inside = sample_axis(fixed, across[row % 2], line);
    put(row, lines.index(image, static_cast<int>(row % 4), inside ? line.low : 0), inside);
  }
}

template <class T>
Border<Acc<T>> read_border(const Shape& s, const void* boxes, std::int64_t row) {
  return Border<Acc<T>>::read(static_cast<const T*>(boxes) + row / 4 * 4, static_cast<int>(row % 4), s.pool_size);
}

}  // namespace mluops::cpu::border_align
