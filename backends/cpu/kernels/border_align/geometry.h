// What both directions of border_align share: the borders of boxes, sorted by the line of pixels they lie on.
//
// A border lies between two lines of pixels: rows for top and bottom, columns for left and right. The four borders of a
// box have channels of their own, so a line belongs to one border of one image.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/partition.h"
#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/scatter/buckets.h"
#include "backends/cpu/simd/element.h"
#include "common/shape.h"
#include "mluops/problem/border_align.h"

namespace mluops::cpu::border_align {

using Shape = mluopsBorderAlignShape;

inline std::int64_t borders_of(const Shape& s) {
  return s.n * s.k * 4;
}

/// The call on no more threads than that.
inline mluopsCall with_threads(mluopsCall call, std::int64_t most) {
  call.threads = static_cast<int>(std::min<std::int64_t>(call.threads, most));
  return call;
}

/// The map as seen along one kind of border: pixels, and elements from one to the next, across lines and along them.
struct BorderAxes {
  std::int64_t lines, line_pitch;
  std::int64_t length, pixel_pitch;

  /// `pitch`: elements from a pixel to the next in its row.
  BorderAxes(const Shape& s, std::int64_t border, std::int64_t pitch) {
    const bool horizontal = border % 2 == 0;
    lines = horizontal ? s.h : s.w;
    length = horizontal ? s.w : s.h;
    line_pitch = (horizontal ? s.w : 1) * pitch;
    pixel_pitch = (horizontal ? 1 : s.w) * pitch;
  }
};

/// The lines of all images, chunks of their boxes, and borders; each has room for as many as the longer side.
class Lines {
 public:
  /// Where a line lies, by its number.
  struct Place {
    std::int64_t image, chunk, border, line;
  };

  Lines(const Shape& s, std::int64_t chunk_boxes)
      : boxes_(s.k), each_(std::max(s.h, s.w)), chunk_boxes_(chunk_boxes), chunks_(ceil_div(s.k, chunk_boxes)) {}
  std::int64_t each() const { return each_; }
  std::int64_t chunks() const { return chunks_; }
  std::int64_t of_chunk() const { return 4 * each_; }
  std::int64_t first_box(std::int64_t chunk) const { return chunk * chunk_boxes_; }
  std::int64_t boxes(std::int64_t chunk) const { return std::min(chunk_boxes_, boxes_ - first_box(chunk)); }
  Place place(std::int64_t index) const {
    const std::int64_t chunk = index / of_chunk();
    return {chunk / chunks_, chunk % chunks_, index / each_ % 4, index % each_};
  }

  /// put(row, number of the first of the two lines it lies between, whether it is on the map) for the borders [begin,
  /// end); outside, the number is that of the first line.
  template <class T, class Put>
  void sort(const Shape& s, const T* boxes, std::int64_t begin, std::int64_t end, Put&& put) const {
    const std::int64_t lines[2] = {s.h, s.w};
    std::int64_t first = 0, chunk_end = begin;
    for (std::int64_t row = begin; row < end; ++row) {
      if (row == chunk_end) {
        const std::int64_t image = row / 4 / boxes_, chunk = row / 4 % boxes_ / chunk_boxes_;
        first = (image * chunks_ + chunk) * of_chunk();
        chunk_end = 4 * (image * boxes_ + first_box(chunk) + this->boxes(chunk));
      }
      // The coordinate that stays: y1, x1, y2, x2.
      AxisSample<Acc<T>> line;
      const bool on_map = sample_axis(to_acc(boxes[row ^ 1]), lines[row % 2], line);
      put(row, first + row % 4 * each_ + (on_map ? line.low : 0), on_map);
    }
  }

 private:
  std::int64_t boxes_, each_, chunk_boxes_, chunks_;
};

/// One border of one box on its line: where its points lie along it, and how much they weigh there and on the next
/// line. Top and bottom (0, 2) run along x and stay on their row of pixels; left and right (1, 3) run along y and stay
/// on their column. That row or column is their line.
template <class A>
struct PlacedBorder {
  A start, stride;
  A weights[2];
  std::int64_t row, line;  ///< row of [n, k, 4]

  /// Outside the map it is on the first line with a start that is no number. Coordinates are computed in the type of
  /// the sums.
  template <class T>
  static PlacedBorder of(const Shape& s, const T* boxes, std::int64_t row) {
    const std::int64_t along = row % 2;
    const bool far = row % 4 >= 2;
    const T* const box = boxes + row / 4 * 4;
    const A from = to_acc(box[along]), to = to_acc(box[2 + along]);
    const A step = (to - from) / static_cast<A>(s.pool_size);
    AxisSample<A> line;
    if (!sample_axis(to_acc(boxes[row ^ 1]), along == 0 ? s.h : s.w, line)) {
      return {std::numeric_limits<A>::quiet_NaN(), 0, {1, 0}, row, 0};
    }
    return {far ? to : from, far ? -step : step, {line.low_weight, line.high_weight}, row, line.low};
  }

  /// add(0 for the line or 1 for the next, pixel along it, weight) for the pixels of a point, on lines of `length`
  /// pixels. On the far border two pixels are one, with a weight of 0, and 0 times infinity would be NaN.
  template <class Add>
  void for_each_pixel(const Shape& s, std::int32_t point, std::int64_t length, Add&& add) const {
    AxisSample<A> along;
    if (point < 0 || point > s.pool_size) return;
    if (!sample_axis(start + stride * static_cast<A>(point), length, along)) return;
    for (int next = 0; next < 2; ++next) {
      add(next, along.low, weights[next] * along.low_weight);
      if (along.high != along.low) add(next, along.high, weights[next] * along.high_weight);
    }
  }
};

/// All borders, line by line; on a line in the order of the boxes.
template <class A>
class SortedBorders {
 public:
  static constexpr std::int64_t kBehind = 8;  ///< borders behind the last, who is there once more: to be prefetched

  SortedBorders(Allocator& allocator, const mluopsCall& call, const Shape& s, const Lines& lines)
      : lines_(lines),
        buckets_(allocator, call, borders_of(s), s.n * lines.chunks() * lines.of_chunk()),
        placed_(allocator.allocate<PlacedBorder<A>>(size_sum(borders_of(s), kBehind))) {}

  /// Borders outside the map are left out or not. A border costs border_ns, a line line_ns more. False when there is no
  /// memory.
  template <class T>
  bool fill(Context& context, const mluopsCall& call, const Shape& s, const T* boxes, bool with_outside,
            double border_ns, double line_ns) {
    const auto each = [&](std::int64_t begin, std::int64_t end, auto&& put) {
      lines_.sort(s, boxes, begin, end, [&](std::int64_t row, std::int64_t line, bool on_map) {
        if (on_map || with_outside) put(row, line, border_ns);
      });
    };
    if (!buckets_.fill(context, call, 2 * cost::kStep, line_ns, each)) return false;
    const auto rows = buckets_.all();
    Loop(context, call, std::ssize(rows), 4 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i)
        placed_[i] = PlacedBorder<A>::of(s, boxes, rows[static_cast<std::size_t>(i)]);
    });
    if (count() > 0) std::fill_n(placed_ + count(), kBehind, placed_[count() - 1]);
    return true;
  }

  const Lines& lines() const { return lines_; }
  std::span<const double> prefix_ns() const { return buckets_.prefix_ns(); }
  /// Where the borders of a line begin among all; one more number than there are lines.
  std::int64_t begin(std::int64_t line) const { return buckets_.begin(line); }
  std::int64_t count() const { return std::ssize(buckets_.all()); }
  const PlacedBorder<A>& operator[](std::int64_t i) const { return placed_[i]; }

 private:
  Lines lines_;
  Buckets buckets_;
  PlacedBorder<A>* placed_;
};

/// All lines cut into runs of about the same cost. A run prepares a line that the one before it has as well, so there
/// are few.
class LineRuns {
 public:
  LineRuns(std::span<const double> prefix_ns, int threads)
      : prefix_ns_(prefix_ns),
        count_(std::max<std::int64_t>(
            index_of(prefix_ns.back() / (2.5 * cost::kChunk), std::int64_t{kPerThread} * threads + 1), 1)) {}
  std::int64_t count() const { return count_; }
  double each_ns() const { return prefix_ns_.back() / static_cast<double>(count_); }
  std::int64_t first_line(std::int64_t run) const { return part_begin(prefix_ns_, run, count_); }

 private:
  static constexpr int kPerThread = 4;

  std::span<const double> prefix_ns_;
  std::int64_t count_;
};

/// Output of so many bytes is written with non-temporal stores: it would leave the second-level cache before anyone
/// reads it.
inline std::int64_t pooled_non_temporal_from() {
  return second_cache(16);
}

}  // namespace mluops::cpu::border_align
