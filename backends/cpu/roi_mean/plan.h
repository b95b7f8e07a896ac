// Means of RoIs' bins, forward in NCHW: which pixels RoIs lie on and in which order they are worked on, the same for
// all channels.
//
// A task has some channels of an image. It goes down the image: RoIs come in the order of the first row they lie on,
// and before each the pixels down to its last row are fetched that RoIs lie on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/cpu/layout/channel_block.h"
#include "backends/cpu/roi_mean/geometry.h"
#include "backends/cpu/roi_mean/order.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/scatter/buckets.h"

namespace mluops::cpu::roi_mean {

/// What is planned once a call. Some or all RoIs of an image are a group.
template <class A>
struct Plan {
  const Shape& s;
  std::int64_t parts;  ///< groups of an image
  Roi<A>* rois;
  RoiTaps<A> taps;
  PixelRange *rows, *columns;  ///< that RoIs lie on
  std::int64_t blocks;         ///< of pixels of an image
  bool* touched;               ///< [groups,blocks]: those that RoIs lie on
  Buckets sorted;              ///< RoIs by group and first row

  template <class T>
  Plan(Allocator& allocator, const mluopsCall& call, const Shape& shape, bool offset, const LargestBin<T>& most,
       std::int64_t parts_of_image)
      : s(shape),
        parts(parts_of_image),
        rois(allocator.allocate<Roi<A>>(s.rois)),
        taps(allocator, s, offset, most, s.rois),
        rows(allocator.allocate<PixelRange>(s.rois)),
        columns(allocator.allocate<PixelRange>(s.rois)),
        blocks(ceil_div(s.h * s.w, layout::kBlockPixels)),
        touched(allocator.allocate<bool>(groups(), blocks)),
        sorted(allocator, call, s.rois, groups() * s.h) {}

  std::int64_t groups() const { return s.batch * parts; }
  std::int64_t group_of(std::int64_t roi) const { return rois[roi].batch * parts + roi % parts; }
  /// In the order of their first rows.
  std::span<const std::int64_t> rois_of(std::int64_t group) const {
    const auto first = sorted.begin(group * s.h), last = sorted.begin((group + 1) * s.h);
    return sorted.all().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  }

  /// Where a RoI lies, whose taps were found. RoIs may come from several threads.
  void add_roi(std::int64_t roi) const {
    rows[roi] = range_of(taps.rows(roi), taps.shared() ? s.pooled_h : s.pooled_h * s.pooled_w);
    columns[roi] = range_of(taps.columns(roi), taps.shared() ? s.pooled_w : s.pooled_h * s.pooled_w);
  }

  /// Sorts all RoIs. False when there is no memory.
  bool sort(Context& context, const mluopsCall& call) {
    std::fill_n(touched, groups() * blocks, false);
    for (std::int64_t roi = 0; roi < s.rois; ++roi) {
      const PixelRange x = columns[roi];
      bool* const own = touched + group_of(roi) * blocks;
      for (std::int64_t y = rows[roi].first; y < rows[roi].last && x.first < x.last; ++y) {
        const std::int64_t first = y * s.w + x.first, last = y * s.w + x.last;
        std::fill(own + first / layout::kBlockPixels, own + ceil_div(last, layout::kBlockPixels), true);
      }
    }
    return sorted.fill(context, call, 2 * cost::kStep, 0, [&](std::int64_t begin, std::int64_t end, auto&& put) {
      for (std::int64_t r = begin; r < end; ++r) put(r, group_of(r) * s.h + std::min(rows[r].first, s.h - 1), 0.0);
    });
  }

 private:
  /// The pixels of some bins' taps.
  static PixelRange range_of(const TapLists<A>& lists, std::int64_t bins) {
    PixelRange range{std::numeric_limits<std::int64_t>::max(), 0};
    for (std::int64_t bin = 0; bin < bins; ++bin) {
      for (const WeightTap<A>& tap : lists.taps(bin)) {
        range = {std::min<std::int64_t>(range.first, tap.index), std::max<std::int64_t>(range.last, tap.index + 1)};
      }
    }
    return range;
  }
};

}  // namespace mluops::cpu::roi_mean
