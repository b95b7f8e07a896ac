// Image tensors from NCHW to NHWC and back: a transpose of each image's [channels, pixels] matrix.
#pragma once

#include <cstdint>
#include <span>

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

/// The pixels of images cut into blocks, one image after the other: what a call needs of a map.
struct PixelBlocks {
  static constexpr std::int64_t kPixels = 16;

  std::int64_t n, pixels;

  std::int64_t per_image() const { return (pixels + kPixels - 1) / kPixels; }
  std::int64_t count() const { return n * per_image(); }
};

/// transpose() of some blocks of pixels only, in increasing order. Those of `from` are columns: from NCHW.
void transpose_columns_of(const Context& context, const mluopsCall& call, const Matrices& m,
                          std::span<const std::int64_t> blocks, const void* from, void* to);
/// Those of `from` are rows: to NCHW. Zero for all other pixels.
void transpose_rows_of(const Context& context, const mluopsCall& call, const Matrices& m,
                       std::span<const std::int64_t> blocks, const void* from, void* to);

}  // namespace mluops::cpu::layout
