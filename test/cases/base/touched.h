// Which pixels a set of bilinear samples reads: the operators on RoIs and boxes need only those.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "test/cases/operator.h"

namespace mluops::cases {

class TouchedPixels {
 public:
  TouchedPixels(std::int64_t planes, std::int64_t h, std::int64_t w)
      : planes_(planes), h_(h), w_(w), seen_(static_cast<std::size_t>(planes * h * w)) {}

  /// One sample at (y, x) of a plane: up to four pixels.
  void sample(std::int64_t plane, double y, double x) {
    // written so that NaN falls outside
    if (!(y >= -1 && y <= static_cast<double>(h_) && x >= -1 && x <= static_cast<double>(w_))) return;
    ++inside_;
    const auto low = [](double v, std::int64_t size) {
      return static_cast<std::int64_t>(std::clamp(v, 0.0, static_cast<double>(size - 1)));
    };
    const std::int64_t y0 = low(y, h_), x0 = low(x, w_);
    for (const std::int64_t yy : {y0, std::min(y0 + 1, h_ - 1)}) {
      for (const std::int64_t xx : {x0, std::min(x0 + 1, w_ - 1)}) mark((plane * h_ + yy) * w_ + xx);
    }
  }

  std::int64_t samples_inside() const { return inside_; }
  /// Whether some sample reads pixel number i, counted over planes, rows and columns.
  bool operator[](std::int64_t i) const { return seen_[static_cast<std::size_t>(i)]; }
  std::int64_t plane_size() const { return static_cast<std::int64_t>(seen_.size()) / planes_; }
  double share() const { return static_cast<double>(touched_) / static_cast<double>(seen_.size()); }

 private:
  void mark(std::int64_t pixel) {
    const auto at = static_cast<std::size_t>(pixel);
    touched_ += !seen_[at];
    seen_[at] = true;
  }

  std::int64_t planes_, h_, w_;
  std::vector<bool> seen_;
  std::int64_t touched_ = 0, inside_ = 0;
};

/// The runs of elements under the pixels read, for a tensor [images, h, w, groups * channels] whose plane
/// image * groups + g holds channels [g * channels, (g + 1) * channels).
inline std::function<void(const RunVisitor&)> runs_of(TouchedPixels touched, std::int64_t images, std::int64_t groups,
                                                      std::int64_t channels) {
  return [touched = std::move(touched), images, groups, channels](const RunVisitor& visit) {
    const std::int64_t size = touched.plane_size();
    for (std::int64_t i = 0; i < images * size * groups; ++i) {
      const std::int64_t g = i % groups, pixel = i / groups % size, image = i / groups / size;
      if (touched[(image * groups + g) * size + pixel]) visit(i * channels, channels);
    }
  };
}

}  // namespace mluops::cases
