// What collect and distribute share: where masks overlap the map, and how output is cut.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/cpu/runtime/machine.h"
#include "mluops/problem.h"

namespace mluops::cpu::psamask {

struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

/// Where the masks of a feature map overlap the map.
struct Window {
  std::int64_t h, w, h_mask, w_mask;
  std::int64_t half_h, half_w;
  bool covers_rows;     // every mask reaches all rows of the map
  bool covers_columns;  // every mask row reaches all columns of the map
  bool fills_columns;   // every mask row lies on the map with all its columns

  explicit Window(const mluopsPsamaskShape& s)
      : h(s.h),
        w(s.w),
        h_mask(s.h_mask),
        w_mask(s.w_mask),
        half_h((s.h_mask - 1) / 2),
        half_w((s.w_mask - 1) / 2),
        covers_rows(half_h >= h - 1 && h_mask - half_h >= h),
        covers_columns(half_w >= w - 1 && w_mask - half_w >= w),
        fills_columns(w_mask == 1) {}

  /// Mask rows of the source pixel in row y that fall on the map; mask columns of the one in column x alike.
  Range rows(std::int64_t y) const { return {std::max<std::int64_t>(0, half_h - y), std::min(h_mask, h + half_h - y)}; }
  Range columns(std::int64_t x) const {
    return {std::max<std::int64_t>(0, half_w - x), std::min(w_mask, w + half_w - x)};
  }
  /// Target columns the mask of the source in column x reaches.
  Range targets(std::int64_t x) const {
    return {std::max<std::int64_t>(0, x - half_w), std::min(w, x - half_w + w_mask)};
  }
};

/// A cache line of ones and one of zeros: which bytes of a line to keep, from where one loads it.
inline constexpr auto kOnesThenZeros = [] {
  std::array<std::uint8_t, 128> bytes{};
  std::fill(bytes.begin(), bytes.begin() + 64, std::uint8_t{255});
  return bytes;
}();

/// 0, 1, 2 ..: which elements of two lines of 16 to take, from where one loads it.
inline constexpr auto kCounting = [] {
  std::array<std::uint32_t, 32> counts{};
  for (std::uint32_t i = 0; i < counts.size(); ++i) counts[i] = i;
  return counts;
}();

/// Pixels that collect moves side by side: in registers, or by way of a buffer.
constexpr std::int64_t kPixelsTogether = 8, kPixelsStaged = 4;

/// One after the other where they are so short that cache lines shared by two would be many.
inline std::int64_t pixels_together(std::int64_t bytes) {
  return bytes < 1024 ? 1 : kPixelsTogether;
}

/// Pixels of a block of collect. A task's buffer, if it has one, takes as many.
inline std::int64_t collect_block(std::int64_t bytes) {
  constexpr std::int64_t kBytes = std::int64_t{16} << 10, kMostBytes = std::int64_t{64} << 10;
  return std::max({kBytes / bytes, std::min(kPixelsStaged, kMostBytes / bytes), std::int64_t{1}});
}

/// Zeros around what a row of output takes from the input are put together with it in rows up to this size.
constexpr std::int64_t kWholeRowBytes = std::int64_t{16} << 10;

/// Rows of targets distribute fills together: as many mask rows of a source pixel lie side by side.
constexpr std::int64_t kTargetRowsTogether = 4;

/// Working block of a task in distribute.
inline std::int64_t distribute_block_bytes() {
  return second_cache(15);
}

}  // namespace mluops::cpu::psamask
