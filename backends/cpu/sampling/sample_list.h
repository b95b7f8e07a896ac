// The samples of a call's RoIs, found once for all tasks that add them to parts of a gradient.
//
// A RoI of the list has its own room, as large as its samples can need, so one pass finds them: an item is a RoI.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/sampling/roi_order.h"

namespace mluops::cpu {

/// Neighbouring pixels [low, high) of an image.
struct PixelBand {
  std::int64_t low, high;

  bool has(std::int64_t pixel) const { return pixel >= low && pixel < high; }
  bool meets(const PixelBand& other) const { return low < other.high && other.low < high; }
};

/// RoIs are counted as in a RoiOrder.
template <class A>
class SampleList {
 public:
  struct Pixel {
    std::int32_t pixel;
    A weight;
  };
  /// Of a bin: the end of its pixels among those of its RoI, and a band that has all.
  struct Bin {
    std::int64_t end = 0;
    PixelBand band = {std::numeric_limits<std::int64_t>::max(), 0};

    void add(std::int64_t pixel) {
      ++end;
      band = {std::min(band.low, pixel), std::max(band.high, pixel + 1)};
    }
  };
  /// The samples of a RoI that fall on a band.
  struct OnBand {
    const Pixel* pixels;
    const Bin* bins;
    PixelBand band;

    bool has(std::int64_t bin) const { return bins[bin].band.meets(band); }
    /// visit(pixel, weight)
    template <class Visit>
    void each(std::int64_t bin, Visit&& visit) const {
      for (std::int64_t i = bin == 0 ? 0 : bins[bin - 1].end; i < bins[bin].end; ++i) {
        if (band.has(pixels[i].pixel)) visit(std::int64_t{pixels[i].pixel}, pixels[i].weight);
      }
    }
  };

  SampleList(Allocator& allocator, std::int64_t rois, std::int64_t bins)
      : rois_(rois),
        of_roi_(bins),
        begin_(allocator.allocate<std::int64_t>(size_sum(rois, 1))),
        roi_band_(allocator.allocate<PixelBand>(rois)),
        bins_(allocator.allocate<Bin>(rois, bins)) {}

  /// Room for RoI i in pixels; for each of them, then measured().
  void measure(std::int64_t i, double pixels) {
    begin_[i] = pixels < kMostPixels ? static_cast<std::int64_t>(pixels) : kNoSize;
  }
  /// Room for all in pixels; kNoSize for more than a memory has.
  std::int64_t measured() {
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < rois_; ++i) place = size_sum(place, std::exchange(begin_[i], place));
    return begin_[rois_] = place;
  }

  /// find(i, add) calls add(bin, pixel, weight) for RoI i, bin by bin. `pixels` has room for what was measured.
  template <class Find>
  void fill(const Context& context, const mluopsCall& call, Pixel* pixels, double roi_ns, const Find& find) {
    pixels_ = pixels;
    Loop(context, call, rois_, roi_ns).run([&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t i = first; i < last; ++i) fill_roi(i, find);
    });
  }
  const PixelBand& band(std::int64_t i) const { return roi_band_[i]; }
  OnBand on(const PixelBand& band, std::int64_t i) const { return {pixels_ + begin_[i], bins_ + i * of_roi_, band}; }

 private:
  static constexpr double kMostPixels = 1e15;

  template <class Find>
  void fill_roi(std::int64_t i, const Find& find) {
    Pixel* const pixels = pixels_ + begin_[i];
    Bin* const bins = bins_ + i * of_roi_;
    std::fill_n(bins, of_roi_, Bin{});
    std::int64_t count = 0;
    find(i, [&](std::int64_t bin, std::int64_t pixel, A weight) {
      pixels[count++] = {static_cast<std::int32_t>(pixel), weight};
      bins[bin].add(pixel);
    });
    Bin all;
    count = 0;
    for (std::int64_t bin = 0; bin < of_roi_; ++bin) {
      count += std::exchange(bins[bin].end, count + bins[bin].end);
      all.band = {std::min(all.band.low, bins[bin].band.low), std::max(all.band.high, bins[bin].band.high)};
    }
    roi_band_[i] = all.band;
  }

  std::int64_t rois_, of_roi_;
  std::int64_t* begin_;  ///< of the pixels of each RoI
  PixelBand* roi_band_;  ///< that has all pixels of the RoI
  Bin* bins_;            ///< [RoIs, bins]
  Pixel* pixels_ = nullptr;
};

}  // namespace mluops::cpu
