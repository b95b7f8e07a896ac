// What both directions of border_align share: which borders there are, and which lines of pixels they lie between.
//
// A border lies between two lines of pixels: rows for top and bottom, columns for left and right. The four borders of a
// box have channels of their own, so a line belongs to one border of one image.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/box_borders.h"
#include "backends/cpu/element.h"
#include "mluops/problem.h"

namespace mluops::cpu::border_align {

using Shape = mluopsBorderAlignShape;

/// Cost in nanoseconds of placing a point.
constexpr double kPointNs = 4;

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

template <class T>
Border<Acc<T>> read_border(const Shape& s, const void* boxes, std::int64_t row) {
  return Border<Acc<T>>::read(static_cast<const T*>(boxes) + row / 4 * 4, static_cast<int>(row % 4), s.pool_size);
}

}  // namespace mluops::cpu::border_align
