// The samples of a call's RoIs, found once for all tasks that add them to parts of a gradient, and sorted by bands of
// pixels run by run of RoIs: a task reads no others.
//
// A run has its own room, as large as its samples can need. An item is a run: its samples are counted, then placed, in
// each band in the order of RoIs and bins.
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

  /// The logarithm of the largest power of two that is at most so many pixels.
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
  std::int64_t of(std::int64_t roi) const { return roi / each(); }

 private:
  static constexpr std::int64_t kLeastBins = 64;
};

template <class A>
class SampleList {
 public:
  struct Pixel {
    std::int64_t bin;  ///< of all RoIs' bins
    std::int32_t pixel;
    A weight;
  };
  using Pixels = std::span<const Pixel>;
  /// One that is found, on its way to its band.
  struct Found {
    Pixel pixel;
    std::int64_t band;
  };
  static constexpr std::int64_t kMostFound = 2048;  ///< a run with more is found twice

  /// `bands`: of an image.
  SampleList(Allocator& allocator, std::int64_t runs, std::int64_t images, std::int64_t bands)
      : runs_(runs),
        bands_(bands),
        begin_(allocator.allocate<std::int64_t>(size_sum(runs, 1))),
        band_begin_(allocator.allocate<std::int64_t>(size_sum(runs, images), size_sum(bands, 1))) {}

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

  /// find(i, add) calls add(Found) for the samples of run i, bin by bin; bands are counted through all images.
  /// image_of(i) is the image of RoI i. `pixels` has room for what was measured, `found` for kMostFound of each thread.
  template <class ImageOf, class Find>
  void fill(const Context& context, const mluopsCall& call, const RoiRuns& runs, Pixel* pixels, Found* found,
            double run_ns, const ImageOf& image_of, const Find& find) {
    pixels_ = pixels;
    Loop(context, call, runs_, run_ns).run([&](std::int64_t first, std::int64_t last, int slot) {
      for (std::int64_t i = first; i < last; ++i) {
        fill_run(i, image_of(runs.begin(i)) * bands_, (image_of(runs.begin(i + 1) - 1) + 1) * bands_, find,
                 found + slot * kMostFound);
      }
    });
  }
  /// The samples of run i on a band of an image that has a RoI of the run, or lies between two that have; bin by bin.
  Pixels on(std::int64_t band, std::int64_t i) const {
    const std::int64_t* const begin = begin_of(i) + band;
    return {pixels_ + begin[0], pixels_ + begin[1]};
  }

 private:
  static constexpr double kMostPixels = 1e15;

  /// By the bands of all images. RoIs are sorted by images, so two runs share at most one, and the part of a run ends
  /// before that of the next begins.
  std::int64_t* begin_of(std::int64_t i) const { return band_begin_ + i * (bands_ + 1); }

  /// The images of the run have the bands [first, end).
  template <class Find>
  void fill_run(std::int64_t i, std::int64_t first, std::int64_t end, const Find& find, Found* found) {
    std::int64_t* const begin = begin_of(i);
    std::fill(begin + first, begin + end + 1, 0);
    std::int64_t count = 0;
    find(i, [&](const Found& one) {
      ++begin[one.band];
      if (count++ < kMostFound) found[count - 1] = one;
    });
    std::int64_t place = begin_[i];
    for (std::int64_t band = first; band <= end; ++band) place += std::exchange(begin[band], place);
    const auto put = [&](const Found& one) { pixels_[begin[one.band]++] = one.pixel; };
    count <= kMostFound ? void(std::for_each(found, found + count, put)) : find(i, put);
    // Each is where the next one begins now.
    std::copy_backward(begin + first, begin + end, begin + end + 1);
    begin[first] = begin_[i];
  }

  std::int64_t runs_, bands_;
  std::int64_t* begin_;       ///< of the pixels of each run
  std::int64_t* band_begin_;  ///< of those on each band of the run's images, and their end
  Pixel* pixels_ = nullptr;
};

}  // namespace mluops::cpu
