// Which pixels the bins of RoIs have, and which channels a task has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "backends/cpu/layout/channel_block.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/roi_order.h"
#include "backends/cpu/simd/element.h"
#include "common/round.h"
#include "common/shape.h"
#include "mluops/problem/ps_roi_pool.h"

namespace mluops::cpu::ps_roi_pool {

using Shape = mluopsPsRoiPoolShape;

/// Pixels [first, end) of an axis.
struct Pixels {
  std::int64_t first, end;
  std::int64_t count() const { return std::max<std::int64_t>(0, end - first); }
};

/// The pixels of a bin.
struct Bin {
  Pixels rows, cols;
  std::int64_t count() const { return rows.count() * cols.count(); }
};

/// The bins of all RoIs, found once a call, and the RoIs in an order in which neighbours share pixels.
class Bins {
 public:
  Bins(Allocator& allocator, const Shape& s)
      : s_(s),
        rows_(allocator.allocate<Pixels>(s.rois, s.pooled_h)),
        cols_(allocator.allocate<Pixels>(s.rois, s.pooled_w)),
        order_(allocator, s.rois) {}

  template <class T, class Problem>
  void find(const Context& context, const mluopsCall& call, const Problem& p) {
    using A = Acc<T>;
    const A scale = static_cast<A>(p.exact_spatial_scale);
    const double roi_ns = cost::kStep * static_cast<double>(s_.pooled_h + s_.pooled_w);
    Loop(context, call, s_.rois, roi_ns).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t r = begin; r < end; ++r) {
        const T* const roi = static_cast<const T*>(p.rois) + 5 * r;
        cut(to_acc(roi[2]), to_acc(roi[4]), scale, s_.h, {rows_ + r * s_.pooled_h, at(s_.pooled_h)});
        cut(to_acc(roi[1]), to_acc(roi[3]), scale, s_.w, {cols_ + r * s_.pooled_w, at(s_.pooled_w)});
      }
    });
    order_.sort([&](std::int64_t r) {
      const std::int64_t image = index_of(to_acc(static_cast<const T*>(p.rois)[5 * r]), s_.batch);
      return PlacedRoi{image, rows_[r * s_.pooled_h].first, cols_[r * s_.pooled_w].first, r};
    });
  }

  Bin operator()(std::int64_t roi, std::int64_t row, std::int64_t col) const {
    return {rows_[roi * s_.pooled_h + row], cols_[roi * s_.pooled_w + col]};
  }
  std::span<const PlacedRoi> all() const { return order_.all(); }
  std::span<const PlacedRoi> of_image(std::int64_t image) const { return order_.of_image(image); }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  /// One axis of a RoI; NaN is pixel 0.
  template <class A>
  static void cut(A low, A high, A scale, std::int64_t pixels, std::span<Pixels> bins) {
    const A start = round_half_away(low) * scale;
    const A size = std::max((round_half_away(high) + 1) * scale - start, static_cast<A>(0.1));
    const A bin = size / static_cast<A>(bins.size());
    const auto edge = [&](std::size_t i) { return static_cast<A>(i) * bin + start; };
    for (std::size_t i = 0; i < bins.size(); ++i) {
      bins[i] = {index_of(std::floor(edge(i)), pixels + 1), index_of(std::ceil(edge(i + 1)), pixels + 1)};
    }
  }

  const Shape& s_;
  Pixels *rows_, *cols_;
  RoiOrder order_;
};

/// A bin of all RoIs of an image, elements [first, first + count) of its output, `most` of them or fewer: what a task
/// has. Its channels of the image are bin + bins * element.
struct BinTask {
  std::int64_t image, bin, first, count;
  std::int64_t row, col;  ///< of the bin

  static std::int64_t count_of(const Shape& s, std::int64_t most) {
    return s.batch * ceil_div(s.output_dim, most) * s.pooled_h * s.pooled_w;
  }
  static BinTask of(std::int64_t item, const Shape& s, std::int64_t most) {
    const std::int64_t bins = s.pooled_h * s.pooled_w, blocks = ceil_div(s.output_dim, most);
    const std::int64_t first = item / bins % blocks * most;
    const std::int64_t bin = item % bins, count = std::min(s.output_dim - first, most);
    return {item / bins / blocks, bin, first, count, bin / s.pooled_w, bin % s.pooled_w};
  }
};

/// Pixels that a RoI's bins have, or a few more.
template <class T, class Problem>
double pixels_of(const Problem& p, std::int64_t r) {
  const T* const roi = static_cast<const T*>(p.rois) + 5 * r;
  const auto along = [&](int low, int high, std::int64_t bins, std::int64_t most) {
    const double size = (round_half_away(double{to_acc(roi[high])}) - round_half_away(double{to_acc(roi[low])}) + 1) *
                        p.exact_spatial_scale;
    return std::clamp(size, 0.0, static_cast<double>(most)) + 2 * static_cast<double>(bins);
  };
  return along(2, 4, p.shape.pooled_h, p.shape.h) * along(1, 3, p.shape.pooled_w, p.shape.w);
}

/// Whether single pixels of bins cost less than a pass over the maps: a pixel of a RoI is one of a bin, and so one of
/// pooled_h * pooled_w pixels that a map has there.
template <class T, class Problem>
Fit few_pixels(const Context&, const mluopsCall&, const Problem& p) {
  constexpr double kMapPixel = 0.125;  // its cost, in those of a single pixel
  const Shape& s = p.shape;
  double pixels = 0;
  for (std::int64_t r = 0; r < s.rois; ++r) pixels += pixels_of<T>(p, r);
  const double bins = static_cast<double>(s.pooled_h * s.pooled_w);
  const double most = static_cast<double>(s.batch * s.h * s.w) * std::max(1.0, kMapPixel * bins);
  return fit(true, s.rois > 0 && pixels <= most);
}

/// A panel for each thread and, where the image is NHWC, its planes: a bin's channels lie pooled_h * pooled_w apart, so
/// that each task would read or write every cache line of the image.
template <class T>
struct Scratch {
  Acc<T>* panels;
  T* planes;

  Scratch(Allocator& allocator, std::int64_t slots, const Shape& s, mluOpTensorLayout_t layout)
      : panels(allocator.allocate<Acc<T>>(slots, s.h, s.w, layout::kBlockChannels<Acc<T>>)),
        planes(layout == MLUOP_LAYOUT_NCHW
                   ? nullptr
                   : allocator.allocate<T>(s.batch, s.output_dim, s.pooled_h, s.pooled_w, s.h, s.w)) {}
};

}  // namespace mluops::cpu::ps_roi_pool
