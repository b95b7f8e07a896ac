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
/// Outside the map: no pixels, value 0.
template <class A>
struct BorderPoint {
  std::int64_t pixel[4];
  A weight[4];

  bool inside() const { return pixel[0] >= 0; }

  static BorderPoint outside() { return {{-1, -1, -1, -1}, {}}; }
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

/// All pool_size + 1 points of a border; each is reached from the one before by adding the stride. Their pixels are
/// offsets into [2, length, pitch], the two lines of the border, and are marked in touched[length].
template <class A>
void place_points(const Border<A>& border, const BorderAxes& axes, std::int64_t pool_size, std::int64_t pitch,
                  BorderPoint<A>* points, std::uint8_t* touched) {
  AxisSample<A> line, along;
  const bool line_inside = sample_axis(border.fixed, axes.lines, line);
  line.low = 0;
  line.high = 1;
  A at = border.start;
  for (std::int64_t i = 0; i <= pool_size; ++i, at += border.stride) {
    if (!line_inside || !sample_axis(at, axes.length, along)) {
      points[i] = BorderPoint<A>::outside();
      continue;
    }
    points[i] = BorderPoint<A>::between(border.horizontal, axes.length * pitch, pitch, line, along);
    touched[along.low] = touched[along.high] = 1;
  }
}

/// The pixels of one line that a border's points touch, with the weight along the line that each point gives each
/// pixel. Points lie at start + stride * i here, as the device has it in the backward pass.
template <class A>
class TouchedPixels {
 public:
  static constexpr A kNone = -1;  ///< this point does not touch this pixel

  struct Pixel {
    std::int64_t position;
    std::int64_t first, last;  ///< the points that touch it are among these
  };

  static std::int64_t most(std::int64_t pool_size) { return 2 * (pool_size + 1); }

  /// pixels has room for most(pool_size), weights for as many rows of row_size >= pool_size + 1.
  TouchedPixels(const Border<A>& border, std::int64_t length, std::int64_t pool_size, std::int64_t row_size,
                Pixel* pixels, A* weights)
      : row_size_(row_size), pixels_(pixels), weights_(weights) {
    AxisSample<A> along;
    for (std::int64_t i = 0; i <= pool_size; ++i) {
      if (!sample_axis(border.start + border.stride * static_cast<A>(i), length, along)) continue;
      touch(along.low, i, along.low_weight);
      if (along.high != along.low) touch(along.high, i, along.high_weight);
    }
  }

  std::int64_t size() const { return size_; }
  const Pixel& operator[](std::int64_t i) const { return pixels_[i]; }
  const A* weights(std::int64_t i) const { return weights_ + i * row_size_; }

 private:
  void touch(std::int64_t position, std::int64_t point, A weight) {
    std::int64_t i = size_ - 1;  // points never turn back: a pixel touched before is one of the latest two
    while (i >= 0 && i >= size_ - 2 && pixels_[i].position != position) --i;
    if (i < 0 || i < size_ - 2) {
      i = size_++;
      pixels_[i] = {position, point, point};
      for (std::int64_t j = 0; j < row_size_; ++j) weights_[i * row_size_ + j] = kNone;
    }
    pixels_[i].last = point;
    weights_[i * row_size_ + point] = weight;
  }

  std::int64_t row_size_, size_ = 0;
  Pixel* pixels_;
  A* weights_;
};

}  // namespace mluops::cpu
