// What PSAMask moves, for both directions, types and layouts.
//
// Each pixel of the map has a frame of values in x, its mask, and one in y, the map. A tensor holds frames in rows,
// [pixel][cell], or in planes, [cell][pixel]:
//
//            collect x -> y     distribute x -> y
//     NHWC   rows -> rows       rows -> planes
//     NCHW   planes -> planes   planes -> rows
//
// Backward is the same with the tensors exchanged.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/cpu/runtime/machine.h"
#include "mluops/problem/psamask.h"

namespace mluops::cpu::psamask {

struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

inline Range clamped(Range some, Range all) {
  const std::int64_t begin = std::clamp(some.begin, all.begin, all.end);
  return {begin, std::clamp(some.end, begin, all.end)};
}

/// Rows or columns. Cell c of the frame that is written comes from cell c + offset(p) of the one that is read, where
/// the frames are those of a pixel in row or column p; it is zero where there is no such cell.
struct Axis {
  std::int64_t pixels, from, to;  ///< of the map; of the frame that is read; of the one that is written
  std::int64_t half;              ///< cells of the mask before its middle
  std::int64_t step;              ///< of the offset, from a pixel to the next: -1 forward, 1 backward

  std::int64_t offset(std::int64_t pixel) const { return step * (pixel - half); }
  /// The pixel for which cell `to` comes from cell `from`.
  std::int64_t pixel(std::int64_t from_cell, std::int64_t to_cell) const { return step * (from_cell - to_cell) + half; }
  /// Cells of a pixel's frame that come from another: the others are zeros.
  Range moved(std::int64_t pixel) const { return clamped({-offset(pixel), from - offset(pixel)}, {0, to}); }
  /// Pixels for which a cell comes from another.
  Range pixels_of(std::int64_t to_cell) const {
    const std::int64_t a = pixel(0, to_cell), b = pixel(from - 1, to_cell);
    return clamped({std::min(a, b), std::max(a, b) + 1}, {0, pixels});
  }
  /// Cells that are read for any of the pixels [first, last].
  Range read(std::int64_t first, std::int64_t last) const {
    const std::int64_t low = std::min(offset(first), offset(last)), high = std::max(offset(first), offset(last));
    return clamped({low, high + to}, {0, from});
  }
  /// Whether no cell that is written is zero.
  bool covers() const { return moved(0).size() == to && moved(pixels - 1).size() == to; }
};

/// One direction of one call.
struct Move {
  std::int64_t images;
  Axis rows, columns;
  bool from_planes, to_planes;  ///< else rows
  const void* from;
  void* to;

  std::int64_t written() const { return images * rows.pixels * columns.pixels * rows.to * columns.to; }
};

inline Move move_of(const mluopsPsamaskShape& s, mluOpTensorLayout_t layout, bool forward, const void* from, void* to) {
  const auto axis = [&](std::int64_t map, std::int64_t mask) {
    return Axis{map, forward ? mask : map, forward ? map : mask, (mask - 1) / 2, forward ? -1 : 1};
  };
  const bool x_planes = layout == MLUOP_LAYOUT_NCHW, y_planes = x_planes == (s.psa_type == 0);
  return {
      s.n, axis(s.h, s.h_mask), axis(s.w, s.w_mask), forward ? x_planes : y_planes, forward ? y_planes : x_planes, from,
      to};
}

/// Output of so many bytes is written with non-temporal stores: it would leave the second-level cache before anyone
/// reads it.
inline std::int64_t non_temporal_from() {
  return second_cache(64);
}

/// Whether output is so large that it is written non-temporally.
template <class E>
bool leaves_caches(const Move& move) {
  return move.written() * static_cast<std::int64_t>(sizeof(E)) > non_temporal_from();
}

/// A cache line of ones and one of zeros: which bytes of a line to keep, from where one loads it.
inline constexpr auto kOnesThenZeros = [] {
  std::array<std::uint8_t, 128> bytes{};
  std::fill(bytes.begin(), bytes.begin() + 64, std::uint8_t{255});
  return bytes;
}();

}  // namespace mluops::cpu::psamask
