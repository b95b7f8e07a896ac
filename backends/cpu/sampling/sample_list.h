// The samples of a call's RoIs, found once for all tasks that add them to parts of a gradient, and sorted by bands of
// pixels run by run of RoIs: a task reads no others.
//
// A run has its own room, as large as its samples can need. An item is a run: its samples are found twice, to be
// counted and to be placed, in each band in the order of RoIs and bins.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/sampling/roi_order.h"

namespace mluops::cpu {

/// Bands of images: a power of two of neighbouring pixels.
struct PixelBands {
  static constexpr int kWhole = 62;

  int log;
  std::int64_t pixels;  ///< of an image

  /// Of bands of so many pixels, or fewer.
  static int log_of(std::int64_t pixels_of_band) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(1, pixels_of_band)))) - 1;
  }

  std::int64_t count() const { return std::max<std::int64_t>(1, ((pixels - 1) >> log) + 1); }
  std::int64_t begin(std::int64_t band) const { return std::min(pixels, band << log); }
  std::int64_t of(std::int64_t pixel) const { return pixel >> log; }
};

/// RoIs that are sorted together: one, or some of few bins. They are counted as in a RoiOrder.
struct RoiRuns {
  std::int64_t rois, bins;  ///< of a RoI

  std::int64_t each() const { return std::max<std::int64_t>(1, kLeastBins / std::max<std::int64_t>(1, bins)); }
  std::int64_t count() const { return ceil_div(rois, each()); }
  std::int64_t begin(std::int64_t run) const { return std::min(rois, run * each()); }

 private:
  static constexpr std::int64_t kLeastBins = 64;
};

template <class A>
class SampleList {
 public:
  struct Pixel {
    std::int32_t pixel, bin;  ///< the bin counted from the first of the run
    A weight;
  };
  using Pixels = std::span<const Pixel>;

  /// `bands`: of all images.
  SampleList(Allocator& allocator, std::int64_t runs, std::int64_t bands)
      : runs_(runs),
        bands_(bands),
        begin_(allocator.allocate<std::int64_t>(size_sum(runs, 1))),
        band_begin_(allocator.allocate<std::int64_t>(size_sum(bands, 1), runs)) {}

  /// Room for run i in pixels; for each of them, then measured().
  void measure(std::int64_t i, double pixels) {
    begin_[i] = pixels < kMostPixels ? static_cast<std::int64_t>(pixels) : kNoSize;
  }
  /// Room for all in pixels; kNoSize for more than a memory has.
  std::int64_t measured() {
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < runs_; ++i) place = size_sum(place, std::exchange(begin_[i], place));
    return begin_[runs_] = place;
  }

  /// find(i, add) calls add(bin, band, pixel, weight) for the samples of run i, bin by bin. `pixels` has room for what
  /// was measured.
  template <class Find>
  void fill(const Context& context, const mluopsCall& call, Pixel* pixels, double run_ns, const Find& find) {
    pixels_ = pixels;
    Loop(context, call, runs_, run_ns).run([&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t i = first; i < last; ++i) fill_run(i, find);
    });
  }
  std::int64_t runs() const { return runs_; }
  /// The samples of run i on a band, bin by bin.
  Pixels on(std::int64_t band, std::int64_t i) const {
    return {pixels_ + band_begin_[band * runs_ + i], pixels_ + band_begin_[(band + 1) * runs_ + i]};
  }

 private:
  static constexpr double kMostPixels = 1e15;

  template <class Find>
  void fill_run(std::int64_t i, const Find& find) {
    const auto begin = [&](std::int64_t band) -> std::int64_t& { return band_begin_[band * runs_ + i]; };
    for (std::int64_t band = 0; band <= bands_; ++band) begin(band) = 0;
    find(i, [&](std::int64_t, std::int64_t band, std::int64_t, A) { ++begin(band); });
    std::int64_t place = begin_[i];
    for (std::int64_t band = 0; band <= bands_; ++band) place += std::exchange(begin(band), place);
    find(i, [&](std::int64_t bin, std::int64_t band, std::int64_t pixel, A weight) {
      pixels_[begin(band)++] = {static_cast<std::int32_t>(pixel), static_cast<std::int32_t>(bin), weight};
    });
    // Each is where the next one begins now.
    for (std::int64_t band = bands_; band > 0; --band) begin(band) = begin(band - 1);
    begin(0) = begin_[i];
  }

  std::int64_t runs_, bands_;
  std::int64_t* begin_;       ///< of the pixels of each run
  std::int64_t* band_begin_;  ///< [bands + 1, runs]: of those on each band
  Pixel* pixels_ = nullptr;
};

}  // namespace mluops::cpu
