// Means of RoIs' bins, forward in NCHW: which pixels bins lie on and in which order they are worked on, the same for
// all channels.
//
// A task has some channels of an image. It goes down the image: RoIs come in the order of the first row they lie on,
// and before each the pixels down to its last row are fetched that bins lie on.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "backends/cpu/layout/channel_block.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/sampling/roi_mean/geometry.h"
#include "backends/cpu/sampling/roi_mean/order.h"
#include "backends/cpu/scatter/buckets.h"

namespace mluops::cpu::roi_mean {

/// What taps lie on.
template <class A>
PixelRange range_of(std::span<const WeightTap<A>> taps) {
  if (taps.empty()) return {0, 0};
  const auto [first, last] =
      std::minmax_element(taps.begin(), taps.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  return {first->index, last->index + 1};
}

/// The blocks of pixels that the bins of groups lie on.
class TouchedBlocks {
 public:
  TouchedBlocks(Allocator& allocator, const Shape& s, std::int64_t groups)
      : w_(s.w),
        groups_(groups),
        blocks_(ceil_div(s.h * s.w, layout::kBlockPixels)),
        marks_(allocator.allocate<std::uint8_t>(groups, blocks_)),
        list_(allocator.allocate<std::int32_t>(groups, blocks_ + 2)) {}

  void clear() { std::fill_n(marks_, groups_ * blocks_, std::uint8_t{0}); }
  /// Pixels `columns` of a row. Several threads may mark at a time.
  void mark(std::int64_t group, std::int64_t row, PixelRange columns) const {
    if (columns.first == columns.last) return;
    std::uint8_t* const marks = marks_ + group * blocks_;
    const std::int64_t end = (row * w_ + columns.last - 1) / layout::kBlockPixels;
    for (std::int64_t i = (row * w_ + columns.first) / layout::kBlockPixels; i <= end; ++i) {
      std::atomic_ref<std::uint8_t>(marks[i]).store(1, std::memory_order_relaxed);
    }
  }
  /// Lists those that are marked, behind their number.
  void list() const {
    for (std::int64_t group = 0; group < groups_; ++group) {
      std::int32_t* const list = list_ + group * (blocks_ + 2);
      list[0] = 0;
      for (std::int64_t block = 0; block < blocks_; ++block) {
        list[list[0] + 1] = static_cast<std::int32_t>(block);
        list[0] += marks_[group * blocks_ + block];
      }
    }
  }
  std::span<const std::int32_t> operator[](std::int64_t group) const {
    const std::int32_t* const list = list_ + group * (blocks_ + 2);
    return {list + 1, static_cast<std::size_t>(list[0])};
  }

 private:
  std::int64_t w_, groups_, blocks_;
  std::uint8_t* marks_;
  std::int32_t* list_;
};

/// What is planned once a call. Some or all RoIs of an image are a group.
template <class A>
struct Plan {
  const Shape& s;
  std::int64_t parts;  ///< groups of an image
  Roi<A>* rois;
  RoiTaps<A> taps;
  PixelRange* rows;  ///< that RoIs lie on
  TouchedBlocks touched;
  Buckets sorted;  ///< RoIs by group and first row

  template <class T>
  Plan(Allocator& allocator, const mluopsCall& call, const Shape& shape, bool offset, const LargestBin<T>& most,
       std::int64_t parts_of_image)
      : s(shape),
        parts(parts_of_image),
        rois(allocator.allocate<Roi<A>>(s.rois)),
        taps(allocator, s, offset, most, s.rois),
        rows(allocator.allocate<PixelRange>(s.rois)),
        touched(allocator, s, groups()),
        sorted(allocator, call, s.rois, groups() * s.h) {}

  std::int64_t groups() const { return s.batch * parts; }
  std::int64_t group_of(std::int64_t roi) const { return rois[roi].batch * parts + roi % parts; }
  /// In the order of their first rows.
  std::span<const std::int64_t> rois_of(std::int64_t group) const {
    const auto first = sorted.begin(group * s.h), last = sorted.begin((group + 1) * s.h);
    return sorted.all().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  }

  /// Where the bins of a RoI lie, whose taps were found. RoIs may come from several threads.
  void add_roi(std::int64_t roi) const {
    rows[roi] = {s.h, 0};
    BinPlace at{0, roi, 0, 0};
    for (at.row = 0; at.row < s.pooled_h; ++at.row) {
      for (at.col = 0; at.col < s.pooled_w; ++at.col) {
        const PixelRange x = range_of<A>(taps.columns(roi).taps(taps.column_of(at)));
        for (const auto& tap : taps.rows(roi).taps(taps.row_of(at))) {
          touched.mark(group_of(roi), tap.index, x);
          rows[roi] = {std::min<std::int64_t>(rows[roi].first, tap.index),
                       std::max<std::int64_t>(rows[roi].last, tap.index + 1)};
        }
      }
    }
  }

  /// Sorts all RoIs. False when there is no memory.
  bool sort(Context& context, const mluopsCall& call) {
    touched.list();
    return sorted.fill(context, call, 2 * cost::kStep, 0, [&](std::int64_t begin, std::int64_t end, auto&& put) {
      for (std::int64_t r = begin; r < end; ++r) put(r, group_of(r) * s.h + std::min(rows[r].first, s.h - 1), 0.0);
    });
  }
};

}  // namespace mluops::cpu::roi_mean
