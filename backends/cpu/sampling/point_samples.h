// Bilinear samples of images at points that RoIs choose for each of their bins. Everything is computed in double,
// whatever the tensors are.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/runtime/index.h"
#include "backends/cpu/sampling/bilinear.h"

namespace mluops::cpu {

/// Pixels of an image and their shares of a sum.
template <std::size_t n>
struct WeightedPixels {
  std::array<std::int64_t, n> pixel;
  std::array<double, n> weight;
};

/// visit(WeightedPixels) of the sample at (y, x), if that is on the map.
template <class Visit>
inline void visit_point(double y, double x, std::int64_t h, std::int64_t w, Visit&& visit) {
  AxisSample<double> down, across;
  if (!sample_axis(y, h, down) || !sample_axis(x, w, across)) return;
  const std::int64_t low = down.low * w, high = down.high * w;
  visit(WeightedPixels<4>{{low + across.low, low + across.high, high + across.low, high + across.high},
                          {down.low_weight * across.low_weight, down.low_weight * across.high_weight,
                           down.high_weight * across.low_weight, down.high_weight * across.high_weight}});
}

/// How many RoIs there are, the bins of each, and how many samples a bin usually has.
struct RoiBins {
  std::int64_t rois, rows, columns;
  double samples;
};

/// The samples along one axis of bins next to each other; the origin is the middle of all of them.
struct CentredAxis {
  double start, bin, step;
  std::int64_t grid;  ///< samples of a bin

  /// `sample_ratio`: samples of a bin; 0: one for each started pixel.
  CentredAxis(double size, std::int64_t bins, int sample_ratio) {
    bin = size / static_cast<double>(bins);
    start = -size / 2;
    grid = !std::isfinite(size) ? 0 : sample_ratio > 0 ? sample_ratio : index_of(std::ceil(bin), kMostSamples);
    step = bin / static_cast<double>(grid > 0 ? grid : 1);
  }
  double sample(std::int64_t bin_index, std::int64_t i) const {
    const double from_bin = (static_cast<double>(i) + 0.5) * bin / static_cast<double>(grid);
    return start + static_cast<double>(bin_index) * bin + from_bin;
  }

  struct Range {
    std::int64_t first, last;
  };
  /// The samples of a bin that are at most `reach` from `middle`, and a few more: as many as the map has room for,
  /// however large the RoI is. All of a few.
  Range near(std::int64_t bin_index, double middle, double reach) const {
    constexpr std::int64_t kFew = 8;
    if (grid <= kFew || !(step > 0)) return {0, grid};
    const double from = middle - sample(bin_index, 0);
    return {index_of((from - reach) / step, grid + 1), index_of((from + reach) / step + 2, grid + 1)};
  }

 private:
  static constexpr std::int64_t kMostSamples = std::int64_t{1} << 31;
};

/// 1 / number of samples of a bin, those off the map included. A bin without samples along one axis has none.
inline double inverse_samples(CentredAxis& down, CentredAxis& across) {
  if (down.grid == 0 || across.grid == 0) down.grid = across.grid = 0;
  const double count = static_cast<double>(down.grid) * static_cast<double>(across.grid);
  return count > 0 ? 1 / count : 0;
}

}  // namespace mluops::cpu
