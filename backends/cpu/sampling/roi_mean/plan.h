// Means of RoIs' bins, forward in NCHW: which pixels bins lie on and in which order they are worked on, the same for
// all channels.
//
// A task has some channels of an image. It goes down the image and holds a ring of rows of pixels; bins come in the
// order of the first row they lie on, so that a ring of as many rows as a bin is high is enough. What bins are lies
// in a stage, a slot for each RoI from its first bin to its last. All this is planned once a call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "backends/cpu/layout/channel_block.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/sampling/roi_mean/geometry.h"
#include "backends/cpu/sampling/roi_mean/order.h"

namespace mluops::cpu::roi_mean {

/// The taps of one RoI, as find_taps lists them.
template <class A>
class RoiLists {
 public:
  using Tap = WeightTap<A>;
  using Lists = TapLists<A>;

  RoiLists(const Shape& s, bool offset, const Roi<A>& roi, Tap* taps)
      : shared_(!offset), h_(s.pooled_h), rows_(1 + most(roi.y, s.h)), columns_(1 + most(roi.x, s.w)), taps_(taps) {}
  static std::int64_t most(const RoiAxis<A>& axis, std::int64_t size) { return 2 * std::min(axis.grid, size); }
  static std::int64_t places(const Shape& s, bool offset, const Roi<A>& roi) {
    const std::int64_t rows = 1 + most(roi.y, s.h), columns = 1 + most(roi.x, s.w);
    return offset ? s.pooled_h * s.pooled_w * (rows + columns) : s.pooled_h * rows + s.pooled_w * columns;
  }

  bool shared() const { return shared_; }
  Lists rows(std::int64_t) const { return {taps_, rows_ + (shared_ ? 0 : columns_)}; }
  Lists columns(std::int64_t) const { return {taps_ + (shared_ ? h_ : 1) * rows_, columns_ + (shared_ ? 0 : rows_)}; }
  /// Rows of pixels are those of an image; there are no cells.
  std::int64_t first_row(std::int64_t) const { return 0; }
  std::int32_t* cells(std::int64_t) const { return nullptr; }

 private:
  bool shared_;
  std::int64_t h_, rows_, columns_;
  Tap* taps_;
};

template <class A>
std::span<const WeightTap<A>> listed(const WeightTap<A>* list) {
  return {list + 1, static_cast<std::size_t>(list->index)};
}

/// What taps lie on.
template <class A>
PixelRange range_of(std::span<const WeightTap<A>> taps) {
  if (taps.empty()) return {0, 0};
  std::int64_t first = taps[0].index, last = first;
  for (const WeightTap<A>& tap : taps) {
    first = std::min<std::int64_t>(first, tap.index);
    last = std::max<std::int64_t>(last, tap.index);
  }
  return {first, last + 1};
}

/// Makes indices places.
template <class A, class Place>
void place(const TapLists<A>& lists, std::int64_t count, const Place& place_of) {
  for (std::int64_t i = 0; i < count; ++i) {
    WeightTap<A>* const list = lists[i];
    for (std::int64_t k = 1; k <= list->index; ++k) list[k].index = static_cast<std::int32_t>(place_of(list[k].index));
  }
}

/// Bins that are worked on together: a row of a RoI's bins, or with offset a single one.
template <class A>
struct Unit {
  const WeightTap<A>* rows;     ///< a list of taps
  const WeightTap<A>* columns;  ///< likewise; those of further bins' columns follow
  std::int32_t columns_apart;
  std::int32_t roi, first_bin;       ///< counted in the RoI
  std::int32_t slot;                 ///< of the stage
  std::int32_t first_row, last_row;  ///< of pixels; the last one is behind them
  std::int32_t blocks;               ///< touched blocks of pixels that begin before the last row
  bool first, last;                  ///< of its RoI
};

/// RoIs of an image, all or some.
struct Group {
  std::int64_t image;
  std::int64_t first_roi, last_roi;  ///< in the order of images
  std::int64_t slots;                ///< that its stage needs
};

/// The blocks of pixels that the bins of groups lie on.
class TouchedBlocks {
 public:
  TouchedBlocks(Allocator& allocator, const Shape& s, std::int64_t groups)
      : w_(s.w),
        groups_(groups),
        blocks_(ceil_div(s.h * s.w, layout::kBlockPixels)),
        marks_(allocator.allocate<std::uint8_t>(groups, blocks_)),
        ranks_(allocator.allocate<std::int32_t>(groups, blocks_ + 1)),
        list_(allocator.allocate<std::int32_t>(groups, blocks_ + 1)) {}

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
  /// Lists those that are marked.
  void list(std::int64_t group) const {
    const std::uint8_t* const marks = marks_ + group * blocks_;
    std::int32_t* const ranks = ranks_ + group * (blocks_ + 1);
    std::int32_t* const list = list_ + group * (blocks_ + 1);
    std::int32_t rank = 0;
    for (std::int64_t block = 0; block < blocks_; ++block) {
      ranks[block] = rank;
      list[rank] = static_cast<std::int32_t>(block);
      rank += marks[block];
    }
    ranks[blocks_] = rank;
  }
  /// How many of those listed begin before a row.
  std::int32_t begun(std::int64_t group, std::int64_t row) const {
    return ranks_[group * (blocks_ + 1) + ceil_div(row * w_, layout::kBlockPixels)];
  }
  std::span<const std::int32_t> operator[](std::int64_t group) const {
    return {list_ + group * (blocks_ + 1), static_cast<std::size_t>(ranks_[group * (blocks_ + 1) + blocks_])};
  }

 private:
  std::int64_t w_, groups_, blocks_;
  std::uint8_t* marks_;
  std::int32_t *ranks_, *list_;
};

template <class A>
class Plan {
 public:
  using Tap = WeightTap<A>;
  using U = Unit<A>;

  /// `parts`: of the RoIs of an image.
  Plan(Allocator& allocator, const Shape& s, bool offset, std::int64_t parts)
      : s_(s),
        offset_(offset),
        parts_(parts),
        bins_(s.pooled_h * s.pooled_w),
        together_(offset ? 1 : s.pooled_w),
        rois_(allocator.allocate<Roi<A>>(s.rois)),
        of_roi_(allocator.allocate<OfRoi>(s.rois)),
        order_(allocator.allocate<std::int64_t>(s.rois)),
        units_(allocator.allocate<U>(s.rois, units_of_roi())),
        sorted_(allocator.allocate<const U*>(s.rois, units_of_roi())),
        list_(allocator.allocate<Group>(groups())),
        image_end_(allocator.allocate<std::int64_t>(s.batch)),
        starts_(allocator.allocate<std::int32_t>(groups(), s.h + 2)),
        touched_(allocator, s, groups()) {}

  const Shape& shape() const { return s_; }
  Roi<A>* rois() const { return rois_; }
  std::int64_t groups() const { return s_.batch * parts_; }
  std::int64_t bins() const { return bins_; }          ///< of a RoI
  std::int64_t together() const { return together_; }  ///< bins of a unit

  /// Sorts the RoIs, which are read, by images. Returns how many taps put_in takes room for.
  std::int64_t sort_rois() {
    std::fill_n(image_end_, s_.batch, std::int64_t{0});
    touched_.clear();
    taps_count_ = 0;
    double rows = 0;
    for (std::int64_t r = 0; r < s_.rois; ++r) {
      rows = std::max(rows, std::abs(static_cast<double>(rois_[r].y.bin)));
      ++image_end_[rois_[r].batch];
    }
    // A bin's samples are less than its height apart and each has two pixels.
    ring_rows_ = rows < static_cast<double>(s_.h) ? index_of(rows, s_.h) + 4 : s_.h;
    for (std::int64_t image = 0, end = 0; image < s_.batch; ++image) {
      const std::int64_t begin = end, count = std::exchange(image_end_[image], begin);
      end += count;
      for (std::int64_t i = 0; i < parts_; ++i) {
        list_[image * parts_ + i] = {image, begin + i * count / parts_, begin + (i + 1) * count / parts_, 0};
      }
    }
    for (std::int64_t r = 0; r < s_.rois; ++r) order_[image_end_[rois_[r].batch]++] = r;
    for (std::int64_t g = 0; g < groups(); ++g) {
      for (std::int64_t i = list_[g].first_roi; i < list_[g].last_roi; ++i) {
        of_roi_[order_[i]].first_tap =
            std::exchange(taps_count_, taps_count_ + RoiLists<A>::places(s_, offset_, rois_[order_[i]]));
        of_roi_[order_[i]].group = g;
        of_roi_[order_[i]].place = i;
      }
    }
    return taps_count_;
  }
  void put_in(Tap* taps) { taps_ = taps; }
  /// Rows of pixels that have to be at hand at a time, once RoIs are sorted.
  layout::RingSize ring() const { return {s_.h, s_.w, ring_rows_}; }

  /// The places of the taps of a RoI.
  RoiLists<A> lists(std::int64_t roi) const { return {s_, offset_, rois_[roi], taps_ + of_roi_[roi].first_tap}; }
  /// The units of a RoI, whose taps were found; from now on their indices are places in the ring, and in its rows. RoIs
  /// may come from several threads.
  void add_roi(std::int64_t roi, const layout::RingSize& ring) {
    const auto all = lists(roi);
    const auto rows = all.rows(0), columns = all.columns(0);
    U* const units = units_ + of_roi_[roi].place * units_of_roi();
    for (std::int64_t i = 0; i < units_of_roi(); ++i) {
      U unit{};
      unit.rows = rows[i];
      unit.columns = columns[offset_ ? i : 0];
      unit.columns_apart = static_cast<std::int32_t>(columns.apart);
      unit.roi = static_cast<std::int32_t>(roi);
      unit.first_bin = static_cast<std::int32_t>(i * together_);
      const PixelRange y = range_of(listed(rows[i]));
      unit.first_row = static_cast<std::int32_t>(y.first);
      unit.last_row = static_cast<std::int32_t>(y.last);
      for (std::int64_t bin = 0; bin < together_; ++bin) {
        const PixelRange x = range_of(listed(columns[offset_ ? i : bin]));
        for (const Tap& tap : listed(rows[i])) touched_.mark(of_roi_[roi].group, tap.index, x);
      }
      units[i] = unit;
    }
    constexpr std::int64_t kChannels = layout::kBlockChannels<A>;
    place(rows, units_of_roi(), [&](std::int64_t y) { return ring.row(y) * kChannels; });
    place(columns, offset_ ? bins_ : s_.pooled_w, [](std::int64_t x) { return x * kChannels; });
  }

  /// Sorts the units of a group.
  void sort_units(std::int64_t index) {
    Group& group = list_[index];
    touched_.list(index);
    std::int32_t* const starts = starts_ + index * (s_.h + 2);
    std::fill_n(starts, s_.h + 2, 0);
    const std::span<U> units(units_ + group.first_roi * units_of_roi(), units_ + group.last_roi * units_of_roi());
    for (U& unit : units) {
      ++starts[unit.first_row + 1];
      unit.blocks = touched_.begun(index, unit.last_row);
    }
    for (std::int64_t y = 0; y < s_.h; ++y) starts[y + 1] += starts[y];
    const U** const sorted = sorted_ + group.first_roi * units_of_roi();
    for (const U& unit : units) sorted[starts[unit.first_row]++] = &unit;
    give_slots(group);
  }

  const Group& operator[](std::int64_t group) const { return list_[group]; }
  /// In their order.
  std::span<const U* const> units(const Group& group) const {
    return {sorted_ + group.first_roi * units_of_roi(), sorted_ + group.last_roi * units_of_roi()};
  }
  /// Blocks of pixels that its bins lie on.
  std::span<const std::int32_t> touched(std::int64_t group) const { return touched_[group]; }
  /// Over all groups.
  std::int64_t most_slots() const {
    std::int64_t most = 1;
    for (std::int64_t i = 0; i < groups(); ++i) most = std::max(most, list_[i].slots);
    return most;
  }

 private:
  struct OfRoi {
    std::int64_t group, place, first_tap;
    std::int32_t slot, left;  ///< units
    std::int32_t free_slot;   ///< of those of a group, listed from its first RoI on
  };

  std::int64_t units_of_roi() const { return bins_ / together_; }

  /// A RoI has a slot from its first unit to its last.
  void give_slots(Group& group) {
    for (std::int64_t i = group.first_roi; i < group.last_roi; ++i) {
      of_roi_[order_[i]].slot = -1;
      of_roi_[order_[i]].left = static_cast<std::int32_t>(units_of_roi());
    }
    OfRoi* const free = of_roi_;
    std::int64_t count = group.first_roi;
    for (const U* const sorted : units(group)) {
      U& unit = units_[sorted - units_];
      OfRoi& roi = of_roi_[unit.roi];
      unit.first = roi.slot < 0;
      if (unit.first)
        roi.slot = count > group.first_roi ? free[order_[--count]].free_slot : static_cast<std::int32_t>(group.slots++);
      unit.slot = roi.slot;
      unit.last = --roi.left == 0;
      if (unit.last) free[order_[count++]].free_slot = roi.slot;
    }
  }

  const Shape& s_;
  bool offset_;
  std::int64_t parts_, bins_, together_, ring_rows_ = 0;
  Roi<A>* rois_;
  OfRoi* of_roi_;
  std::int64_t* order_;
  U* units_;  ///< in the order of order_
  const U** sorted_;
  Group* list_;
  std::int64_t* image_end_;
  std::int32_t* starts_;  ///< per group and row: units that begin there
  TouchedBlocks touched_;
  std::int64_t taps_count_ = 0;
  Tap* taps_ = nullptr;  ///< RoI by RoI, in the order of order_
};

}  // namespace mluops::cpu::roi_mean
