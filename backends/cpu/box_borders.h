// The borders of boxes and the points along them (border_align). Coordinates are computed in the type of the sums.
#pragma once

#include <cstdint>

#include "backends/cpu/bilinear.h"
#include "backends/cpu/element.h"
#include "mluops/problem.h"

namespace mluops::cpu {

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

/// A line of `length` pixels, packed, has these places behind its pixels: the last pixel once more, which is the
/// neighbour of the last one, and two of zeros for points outside the map.
constexpr std::int64_t kPlacesBehind = 3;

/// A point as a packed pixel, its neighbour along the line and these two of the next line, with the weights of upper
/// left, upper right, lower left and lower right.
template <class A>
struct PackedPoint {
  A weight[4];
  std::int32_t pixel;
};

/// All pool_size + 1 points of a border; each is reached from the one before by adding the stride. Marks the pixels
/// along the line that they touch.
template <class A>
void place_points(const Border<A>& border, const BorderAxes& axes, std::int64_t pool_size, PackedPoint<A>* points,
                  std::uint8_t* touched) {
  AxisSample<A> line, along;
  const bool line_inside = sample_axis(border.fixed, axes.lines, line);
  const int right = border.horizontal ? 1 : 2, lower = border.horizontal ? 2 : 1;
  A at = border.start;
  for (std::int64_t i = 0; i <= pool_size; ++i, at += border.stride) {
    PackedPoint<A>& point = points[i];
    if (!line_inside || !sample_axis(at, axes.length, along)) {
      point = {{0, 0, 0, 0}, static_cast<std::int32_t>(axes.length + 1)};
      continue;
    }
    point.weight[0] = line.low_weight * along.low_weight;
    point.weight[right] = line.low_weight * along.high_weight;
    point.weight[lower] = line.high_weight * along.low_weight;
    point.weight[3] = line.high_weight * along.high_weight;
    point.pixel = static_cast<std::int32_t>(along.low);
    touched[along.low] = touched[along.low + 1] = 1;
  }
}

}  // namespace mluops::cpu
