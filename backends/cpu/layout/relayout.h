// Image tensors from NCHW to NHWC and back: a transpose of each image's [channels, pixels] matrix.
#pragma once

#include <cstdint>

#include "backends/cpu/layout/touched.h"
#include "backends/cpu/runtime/context.h"

namespace mluops::cpu::layout {

/// `count` dense row-major matrices of `rows` x `columns` elements of `element` bytes (2, 4 or 8), one after the other.
struct Matrices {
  std::int64_t count, rows, columns;
  std::int64_t element;

  std::int64_t bytes() const { return count * rows * columns * element; }
};

/// to[i][column][row] = from[i][row][column]. Neither overlaps the other.
void transpose(const Context& context, const mluopsCall& call, const Matrices& m, const void* from, void* to);

/// Channels [first, first + count) of `all` of an image.
struct Channels {
  std::int64_t all, first, count;
};

/// rows[place][c] = images[image][first + c][pixel] for the touched blocks of images, whose elements have `element`
/// bytes; rows are `width` elements, those behind the channels 0.
void gather(const Context& context, const mluopsCall& call, const Touched& touched, const Channels& of,
            std::int64_t element, const void* images, void* rows, std::int64_t width);

}  // namespace mluops::cpu::layout
