// The borders of boxes and the points along them (border_align). Coordinates are computed in the type of the sums.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/simd/element.h"
#include "mluops/problem.h"

namespace mluops::cpu::border_align {

/// One border of one box: a coordinate that stays, and one that runs. Top and bottom (0, 2) run along x and stay on
/// their row of pixels; left and right (1, 3) run along y and stay on their column. That row or column is their line.
template <class A>
struct Border {
  bool horizontal;
  A fixed, start, stride;

  template <class T>
  static Border read(const T* box, int which, std::int64_t pool_size) {
    const A x1 = to_acc(box[0]), y1 = to_acc(box[1]), x2 = to_acc(box[2]), y2 = to_acc(box[3]);
    const A step_x = (x2 - x1) / static_cast<A>(pool_size), step_y = (y2 - y1) / static_cast<A>(pool_size);
    switch (which) {
      case 0:
        return {true, y1, x1, step_x};
      case 1:
        return {false, x1, y1, step_y};
      case 2:
        return {true, y2, x2, -step_x};
      default:
        return {false, x2, y2, -step_y};
    }
  }
};

/// The map as seen along one kind of border: pixels and elements from one to the next, across lines and along them.
struct BorderAxes {
  std::int64_t lines, line_pitch;
  std::int64_t length, pixel_pitch;

  BorderAxes(const mluopsBorderAlignShape& s, bool horizontal)
      : lines(horizontal ? s.h : s.w),
        line_pitch((horizontal ? s.w : 1) * 4 * s.c),
        length(horizontal ? s.w : s.h),
        pixel_pitch((horizontal ? 1 : s.w) * 4 * s.c) {}
};

/// One point: its four pixels (offset in elements) and their weights, upper left, upper right, lower left, lower right.
template <class A>
struct BorderPoint {
  std::int64_t pixel[4];
  A weight[4];

  /// Whether the corner is an earlier one's pixel, on the far border of the map. Its weight is 0, but 0 times an
  /// infinite gradient would be NaN.
  bool repeats(int corner) const { return std::find(pixel, pixel + corner, pixel[corner]) != pixel + corner; }

  /// Lines and pixels along them lie as far apart as the pitches say.
  static BorderPoint between(bool horizontal, std::int64_t line_pitch, std::int64_t pixel_pitch,
                             const AxisSample<A>& line, const AxisSample<A>& along) {
    BorderPoint point;
    const auto put = [&](int corner, std::int64_t l, std::int64_t a, A weight) {
      point.pixel[corner] = l * line_pitch + a * pixel_pitch;
      point.weight[corner] = weight;
    };
    const int right = horizontal ? 1 : 2, lower = horizontal ? 2 : 1;  // of the running and of the staying axis
    put(0, line.low, along.low, line.low_weight * along.low_weight);
    put(right, line.low, along.high, line.low_weight * along.high_weight);
    put(lower, line.high, along.low, line.high_weight * along.low_weight);
    put(3, line.high, along.high, line.high_weight * along.high_weight);
    return point;
  }
};

}  // namespace mluops::cpu::border_align
