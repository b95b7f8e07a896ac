// What both directions of RoiAlign share: the RoIs of a call, image by image, and the pixels their bins read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/context.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/sampling/roi.h"
#include "common/shape.h"

namespace mluops::cpu::roi_align {

using Shape = mluopsRoiAlignShape;

/// Distances between neighbours in a map [batch,h,w,c] or [batch,c,h,w], and in the bins of the RoIs.
struct Steps {
  std::int64_t image, pixel, channel;
  std::int64_t roi, bin, bin_channel;

  Steps(const Shape& s, mluOpTensorLayout_t layout) {
    const std::int64_t plane = s.h * s.w, bins = s.pooled_h * s.pooled_w;
    const bool planes = layout == MLUOP_LAYOUT_NCHW;
    image = plane * s.c;
    pixel = planes ? 1 : s.c;
    channel = planes ? plane : 1;
    roi = bins * s.c;
    bin = planes ? 1 : s.c;
    bin_channel = planes ? bins : 1;
  }
};

/// The RoIs of a call. The weight of a pixel in a bin is the product of a row weight and a column weight; both are
/// listed once, for all channels.
template <class A>
class RoiTable {
 public:
  using Taps = std::span<const WeightTap<A>>;

  RoiTable(Allocator& allocator, const Shape& s)
      : s_(s),
        rois_(allocator.allocate<Roi<A>>(s.rois)),
        first_tap_(allocator.allocate<std::int64_t>(s.rois + 1)),
        counts_(allocator.allocate<std::int32_t>(s.rois * bins())),
        order_(allocator.allocate<std::int64_t>(s.rois)),
        image_end_(allocator.allocate<std::int64_t>(s.batch + 1)) {}

  template <class T>
  void read(const void* rois) {
    const auto* const raw = static_cast<const T*>(rois);
    for (std::int64_t r = 0; r < s_.rois; ++r) rois_[r] = Roi<A>::read(raw + 5 * r, s_, s_.aligned != 0);
    sort_by_image();
  }
  /// Lists the taps of all bins. False when there is no memory.
  bool list_taps(Context& context, const mluopsCall& call) {
    first_tap_[0] = 0;
    for (std::int64_t r = 0; r < s_.rois; ++r) {
      first_tap_[r + 1] = first_tap_[r] + s_.pooled_h * most_rows(r) + s_.pooled_w * most_columns(r);
    }
    const auto bytes = (first_tap_[s_.rois] + 1) * static_cast<std::int64_t>(sizeof(WeightTap<A>));
    taps_ = reinterpret_cast<WeightTap<A>*>(context.entries.reserve(bytes));
    if (taps_ == nullptr) return false;
    Loop(context, call, s_.rois, kBinTapsNs * static_cast<double>(bins()))
        .run([&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t r = begin; r < end; ++r) list_taps_of(r);
        });
    return true;
  }

  const Roi<A>& operator[](std::int64_t roi) const { return rois_[roi]; }
  Taps rows(std::int64_t roi, std::int64_t row) const {
    return {taps_ + first_tap_[roi] + row * most_rows(roi), count(roi, row)};
  }
  Taps columns(std::int64_t roi, std::int64_t column) const {
    const std::int64_t first = first_tap_[roi] + s_.pooled_h * most_rows(roi);
    return {taps_ + first + column * most_columns(roi), count(roi, s_.pooled_h + column)};
  }
  /// RoIs of an image, in the order of the tensor.
  std::span<const std::int64_t> of_image(std::int64_t image) const {
    return {order_ + (image == 0 ? 0 : image_end_[image - 1]), order_ + image_end_[image]};
  }
  /// Taps of one bin, about: rows and columns, over all RoIs.
  double taps_per_bin() const {
    return s_.rois == 0 ? 0
                        : static_cast<double>(first_tap_[s_.rois]) /
                              static_cast<double>(s_.rois * std::min(s_.pooled_h, s_.pooled_w));
  }

 private:
  static constexpr double kBinTapsNs = 40;

  std::int64_t bins() const { return s_.pooled_h + s_.pooled_w; }
  std::size_t count(std::int64_t roi, std::int64_t list) const {
    return static_cast<std::size_t>(counts_[roi * bins() + list]);
  }
  std::int64_t most_rows(std::int64_t roi) const { return 2 * std::min(rois_[roi].y.grid, s_.h); }
  std::int64_t most_columns(std::int64_t roi) const { return 2 * std::min(rois_[roi].x.grid, s_.w); }

  void list_taps_of(std::int64_t r) {
    using List = TapList<A, WeightTap<A>>;
    std::int32_t* const counts = counts_ + r * bins();
    WeightTap<A>* place = taps_ + first_tap_[r];
    for (std::int64_t i = 0; i < s_.pooled_h; ++i, place += most_rows(r)) {
      counts[i] = static_cast<std::int32_t>(List(place, BinAxis<A>(rois_[r].y, A{0}, i), s_.h, {0, s_.h}).size());
    }
    for (std::int64_t i = 0; i < s_.pooled_w; ++i, place += most_columns(r)) {
      counts[s_.pooled_h + i] =
          static_cast<std::int32_t>(List(place, BinAxis<A>(rois_[r].x, A{0}, i), s_.w, {0, s_.w}).size());
    }
  }

  void sort_by_image() {
    std::fill_n(image_end_, s_.batch + 1, std::int64_t{0});
    for (std::int64_t r = 0; r < s_.rois; ++r) ++image_end_[rois_[r].batch];
    for (std::int64_t image = 0, place = 0; image < s_.batch; ++image) place += std::exchange(image_end_[image], place);
    for (std::int64_t r = 0; r < s_.rois; ++r) order_[image_end_[rois_[r].batch]++] = r;
  }

  const Shape& s_;
  Roi<A>* rois_;
  std::int64_t* first_tap_;
  std::int32_t* counts_;  ///< of each row of bins, then of each column of bins
  std::int64_t* order_;
  std::int64_t* image_end_;
  WeightTap<A>* taps_ = nullptr;
};

/// What this backend leaves to others, nullptr for nothing. The number of samples of a bin is an int32, as on the
/// device.
inline const char* declined(const Shape& s) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (s.sampling_ratio > 46340) return "sampling_ratio: its square must be below 2^31";
  if (s.h > kMost || s.w > kMost) return "input: height and width must be below 2^31";
  return nullptr;
}

}  // namespace mluops::cpu::roi_align
