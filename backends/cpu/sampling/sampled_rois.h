// RoIs (or grids) whose bins are sums of samples at pixels that the data choose: what a gradient asks of an operator,
// and the gradient itself, which is the same for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "backends/cpu/layout/touched.h"
#include "backends/cpu/runtime/context.h"
#include "backends/cpu/sampling/point_samples.h"
#include "backends/cpu/sampling/roi_order.h"

namespace mluops::cpu {

/// A pixel of a bin's samples and its share of their sum.
struct BinPixel {
  std::int64_t bin, pixel;  ///< of all RoIs' bins; of its image
  double weight;
};

/// Some lines and columns of pixels of a bin. A pixel's weight is its line's times its column's.
struct BinRectangle {
  static constexpr std::int64_t kMostColumns = 64;

  std::int64_t bin, pixel, pitch;  ///< of all RoIs' bins; the first pixel, of its image; from a line to the next
  std::int64_t lines, columns;
  const double *down, *across;  ///< weights
};

/// Takes the pixels of bins, some at a time, from a Writer, or as rectangles.
class BinPixels {
 public:
  class Writer {
   public:
    explicit Writer(BinPixels& to) : to_(to), next_(to.pixels_.data()), end_(next_ + kMost) {}
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() { to_.take_until(next_); }

    /// The pixels of a sample of a bin; `scale` is a factor of their weights.
    template <std::size_t n>
    [[gnu::always_inline]] void add(std::int64_t bin, const WeightedPixels<n>& sample, double scale) {
      if (end_ - next_ < std::ptrdiff_t{n}) next_ = to_.take_until(next_);
      for (std::size_t k = 0; k < n; ++k) *next_++ = {bin, sample.pixel[k], sample.weight[k] * scale};
    }

   private:
    BinPixels& to_;
    BinPixel *next_, *end_;
  };

  virtual void take_rectangle(const BinRectangle& all) {
    Writer to(*this);
    for (std::int64_t i = 0; i < all.lines; ++i) {
      for (std::int64_t k = 0; k < all.columns; ++k) {
        to.add(all.bin, WeightedPixels<1>{{all.pixel + i * all.pitch + k}, {all.down[i] * all.across[k]}}, 1);
      }
    }
  }

 protected:
  ~BinPixels() = default;

 private:
  virtual void take(std::span<const BinPixel> pixels) = 0;
  /// The place of the next pixel. Not inlined: what is found meanwhile would leave its registers.
  [[gnu::noinline]] BinPixel* take_until(const BinPixel* end) {
    take({pixels_.data(), end});
    return pixels_.data();
  }

  static constexpr std::size_t kMost = 128;
  std::array<BinPixel, kMost> pixels_;
};

/// The RoIs of a call, and where the samples of their bins are: an operator derives from it.
class SampledRois {
 public:
  explicit SampledRois(const RoiBins& bins) : bins_(bins) {}

  std::int64_t count() const { return bins_.rois; }
  std::int64_t bins() const { return bins_.rows * bins_.columns; }  ///< of a RoI
  /// Pixels of a RoI's samples, usually.
  double additions() const { return 4 * bins_.samples * static_cast<double>(bins()); }
  virtual PlacedRoi place(std::int64_t roi) const = 0;
  /// At least as many as the samples of a RoI have pixels.
  virtual double most_pixels(std::int64_t roi) const = 0;
  /// Adds the pixels of a RoI's samples, bin by bin.
  virtual void find(std::int64_t roi, BinPixels& to) const = 0;

  /// visit(span of BinPixel) for the pixels of a RoI's samples, bin by bin, some at a time.
  template <class Visit>
  void each(std::int64_t roi, const Visit& visit) const {
    struct Visited final : BinPixels {
      explicit Visited(const Visit& v) : visit(v) {}
      void take(std::span<const BinPixel> pixels) override { visit(pixels); }
      const Visit& visit;
    };
    Visited visited(visit);
    find(roi, visited);
  }

 protected:
  ~SampledRois() = default;
  RoiBins bins_;
};

/// The pixels that the samples of all RoIs touch.
inline void find_touched(const Context& context, const mluopsCall& call, const SampledRois& rois,
                         layout::Touched& touched) {
  touched.find(context, call, rois.count(), cost::kStep * rois.additions(), [&](std::int64_t roi, auto touch) {
    const std::int64_t image = rois.place(roi).image;
    rois.each(roi, [&](std::span<const BinPixel> pixels) {
      for (const BinPixel& at : pixels) touch(image, at.pixel, at.pixel + 1);
    });
  });
}

/// The gradient of a call in its input.
struct SampledGradient {
  struct {
    mluOpDataType_t dtype;
    std::int64_t batch, h, w, c;
  } shape;
  mluOpTensorLayout_t layout;
  const void* grad_output;  ///< [RoIs,bins,C], in NCHW [RoIs,C,bins]
  void* grad_input;
  const SampledRois& rois;
};

mluOpStatus_t add_samples(Context& context, const mluopsCall& call, const SampledGradient& gradient);

}  // namespace mluops::cpu
