// DeformRoiPool forward: the order of bins. Without offset, what the bins of a RoI have in common and runs of them that
// lie on one tile.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cpu/deform_roi_pool.h"
#include "backends/cpu/prefetch.h"
#include "backends/cpu/scratch.h"

namespace mluops::cpu::deform_roi_pool {

/// Whether RoIs overlap so much, as if they covered the map more than once, that the order of their bins decides how
/// often pixels are fetched.
template <class A>
bool crowded(const Shape& s, const Roi<A>* rois) {
  const auto extent = [](A size, std::int64_t most) {
    return std::min(std::abs(static_cast<double>(size)), static_cast<double>(most));
  };
  double pixels = 0;
  for (std::int64_t r = 0; r < s.rois; ++r) pixels += extent(rois[r].y.size, s.h) * extent(rois[r].x.size, s.w);
  return pixels > static_cast<double>(s.batch * s.h * s.w);
}

/// Bins next to each other in a row of a RoI, as one number: the first one and how many.
struct BinRun {
  std::int64_t first, count;

  std::int64_t packed() const { return first + (count << kBits); }
  static BinRun unpacked(std::int64_t packed) { return {packed & ((std::int64_t{1} << kBits) - 1), packed >> kBits}; }

 private:
  static constexpr int kBits = 31;  // bins are less than 2^31
};

/// The taps of each row and each column of a RoI's bins, and the tiles their middles lie on: found once for each RoI,
/// not once for each bin, where no offset moves single bins.
template <class A>
class RoiTaps {
 public:
  RoiTaps(Carver& carver, const Shape& s, bool offset)
      : h_(s.pooled_h),
        w_(s.pooled_w),
        most_rows_(BinTaps<A>::most_rows(s)),
        most_columns_(BinTaps<A>::most(s) - most_rows_),
        kept_(!offset && s.sampling_ratio > 0 && per_roi() <= kMostPerRoi),
        taps_(carver.take<Tap<A>>(kept_ ? s.rois * per_roi() : 0)),
        axes_(carver.take<Axis>(kept_ ? s.rois * (h_ + w_) : 0)) {}

  /// Not where the taps would take much memory: then bins have so many that finding them matters little.
  bool kept() const { return kept_; }

  /// Finds those of one RoI.
  template <class T>
  void find(const Bins<T>& bins, const Tiles& t, std::int64_t roi) const {
    const Shape& s = bins.s;
    Tap<A>* room = taps_ + roi * per_roi();
    Axis* axis = axes_ + roi * (h_ + w_);
    for (std::int64_t i = 0; i < h_; ++i, room += most_rows_) {
      const BinAxis<A> y = bins.y({0, roi, i, 0});
      keep(axis++, TapList<A>(room, y, s.h, {0, s.h}), t.row_of(y.middle(s.h)));
    }
    for (std::int64_t i = 0; i < w_; ++i, room += most_columns_) {
      const BinAxis<A> x = bins.x({0, roi, 0, i});
      keep(axis++, TapList<A>(room, x, s.w, {0, s.w}), t.col_of(x.middle(s.w)));
    }
  }

  BinTaps<A> of(const BinPlace& at) const {
    const Axis* const axis = axes_ + at.roi * (h_ + w_);
    Tap<A>* const rows = taps_ + at.roi * per_roi();
    BinTaps<A> taps;
    taps.y = {rows + at.row * most_rows_, axis[at.row].taps};
    taps.x = {rows + h_ * most_rows_ + at.col * most_columns_, axis[h_ + at.col].taps};
    return taps;
  }

  /// Asks for what of() will read for a run of bins that begins there.
  HWY_INLINE void ask(const BinPlace& at, std::int64_t count) const {
    const Axis* const axis = axes_ + at.roi * (h_ + w_);
    const Tap<A>* const rows = taps_ + at.roi * per_roi();
    __builtin_prefetch(axis + at.row);
    __builtin_prefetch(axis + h_ + at.col);
    prefetch(rows + at.row * most_rows_, most_rows_);
    prefetch(rows + h_ * most_rows_ + at.col * most_columns_, count * most_columns_);
  }

  /// put(run, row of tiles, column of tiles) for the bins of a RoI's row, cut where the tile changes.
  template <class Put>
  void for_each_run(std::int64_t roi, std::int64_t row, Put put) const {
    const Axis* const axis = axes_ + roi * (h_ + w_);
    const Axis* const column = axis + h_;
    for (std::int64_t first = 0, end = 0; first < w_; first = end) {
      while (end < w_ && column[end].tile == column[first].tile) ++end;
      put(BinRun{(roi * h_ + row) * w_ + first, end - first}, axis[row].tile, column[first].tile);
    }
  }

 private:
  static constexpr std::int64_t kMostPerRoi = 512;
  struct Axis {
    std::int32_t taps, tile;  ///< of a row, or a column, of bins: how many, and where
  };

  static void keep(Axis* axis, const TapList<A>& taps, std::int64_t tile) {
    *axis = {static_cast<std::int32_t>(taps.size()), static_cast<std::int32_t>(tile)};
  }
  std::int64_t per_roi() const { return h_ * most_rows_ + w_ * most_columns_; }

  std::int64_t h_, w_, most_rows_, most_columns_;
  bool kept_;
  Tap<A>* taps_;
  Axis* axes_;
};

/// Bins one by one out of runs nth(begin) .. nth(end - 1).
template <class T, class Nth>
class BinSequence {
 public:
  BinSequence(const Bins<T>& bins, const RoiTaps<Acc<T>>& taps, const Nth& nth, std::int64_t begin, std::int64_t end)
      : bins_(bins), taps_(taps), nth_(nth), next_run_(begin), end_(end) {}

  /// The next bin; false when there is none.
  bool next(BinPlace& at) {
    if (left_ > 0) {
      ++at_.bin;
      ++at_.col;
    } else {
      if (next_run_ == end_) return false;
      const BinRun run = nth_(next_run_++);
      at_ = bins_.place(run.first);
      left_ = run.count;
      if (taps_.kept() && next_run_ + kRunsAhead <= end_) ask(nth_(next_run_ + kRunsAhead - 1));
    }
    --left_;
    at = at_;
    return true;
  }

 private:
  static constexpr std::int64_t kRunsAhead = 4;
  HWY_INLINE void ask(const BinRun& run) { taps_.ask(bins_.place(run.first), run.count); }

  const Bins<T>& bins_;
  const RoiTaps<Acc<T>>& taps_;
  const Nth& nth_;
  std::int64_t next_run_, end_, left_ = 0;
  BinPlace at_{};
};

}  // namespace mluops::cpu::deform_roi_pool
