// The samples of a rotated RoI's bins. Everything is computed in double, whatever the tensors are.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/simd/element.h"
#include "mluops/problem.h"

namespace mluops::cpu::roi_align_rotated {

using Shape = mluopsRoiAlignRotatedShape;

/// The four pixels of a sample and their shares.
struct FourPixels {
  std::array<std::int64_t, 4> pixel;
  std::array<double, 4> weight;
};

/// One axis of a RoI in its own frame, whose origin is its centre.
struct RotatedAxis {
  double start, bin, step;
  std::int64_t grid;

  RotatedAxis(double size, std::int64_t bins, const Shape& s) {
    if (s.aligned == 0) size = std::fmax(size, 1.0);
    bin = size / static_cast<double>(bins);
    start = -size / 2;
    grid = !std::isfinite(size) ? 0 : s.sample_ratio > 0 ? s.sample_ratio : index_of(std::ceil(bin), kMostSamples);
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
  /// however large the RoI is.
  Range near(std::int64_t bin_index, double middle, double reach) const {
    if (!(step > 0)) return {0, grid};
    const double from = middle - sample(bin_index, 0);
    return {index_of((from - reach) / step, grid + 1), index_of((from + reach) / step + 2, grid + 1)};
  }

 private:
  static constexpr std::int64_t kMostSamples = std::int64_t{1} << 31;
};

class RotatedRoi {
 public:
  std::int64_t image;
  double inverse_count;  ///< 1 / number of samples of a bin, those off the map included

  /// Row r of p.rois.
  template <class T, class Problem>
  static RotatedRoi read(const Problem& p, std::int64_t r) {
    std::array<double, 6> n;
    for (std::size_t i = 0; i < n.size(); ++i) n[i] = to_acc(static_cast<const T*>(p.rois)[6 * r + std::int64_t(i)]);
    return {n, p.shape, p.exact_spatial_scale};
  }

  /// The pixel that the centre is on or nearest to.
  std::int64_t row() const { return index_of(y_, s_.h); }
  std::int64_t column() const { return index_of(x_, s_.w); }

  /// visit(FourPixels) for the samples of a bin that are on the map.
  template <class Visit>
  void for_each_sample(std::int64_t row, std::int64_t column, Visit&& visit) const {
    const RotatedAxis::Range rows = down_.near(row, middle_down_, reach_);
    const RotatedAxis::Range columns = across_.near(column, middle_across_, reach_);
    for (std::int64_t i = rows.first; i < rows.last; ++i) {
      const double down = down_.sample(row, i);
      for (std::int64_t j = columns.first; j < columns.last; ++j) {
        const double across = across_.sample(column, j);
        AxisSample<double> y, x;
        if (!sample_axis(down * cos_ - across * sin_ + y_, s_.h, y)) continue;
        if (!sample_axis(down * sin_ + across * cos_ + x_, s_.w, x)) continue;
        visit(FourPixels{{y.low * s_.w + x.low, y.low * s_.w + x.high, y.high * s_.w + x.low, y.high * s_.w + x.high},
                         {y.low_weight * x.low_weight, y.low_weight * x.high_weight, y.high_weight * x.low_weight,
                          y.high_weight * x.high_weight}});
      }
    }
  }

 private:
  RotatedRoi(const std::array<double, 6>& n, const Shape& s, double scale)
      : image(index_of(n[0], s.batch)),
        s_(s),
        y_(n[2] * scale - (s.aligned != 0 ? 0.5 : 0.0)),
        x_(n[1] * scale - (s.aligned != 0 ? 0.5 : 0.0)),
        cos_(std::cos(n[5])),
        sin_(s.clockwise != 0 ? -std::sin(n[5]) : std::sin(n[5])),
        down_(n[4] * scale, s.pooled_h, s),
        across_(n[3] * scale, s.pooled_w, s) {
    const double from_y = static_cast<double>(s.h) / 2 - y_, from_x = static_cast<double>(s.w) / 2 - x_;
    middle_down_ = from_y * cos_ + from_x * sin_;
    middle_across_ = from_x * cos_ - from_y * sin_;
    reach_ = std::hypot(static_cast<double>(s.h), static_cast<double>(s.w)) / 2 + 2;
    if (down_.grid == 0 || across_.grid == 0) down_.grid = across_.grid = 0;
    const double count = static_cast<double>(down_.grid) * static_cast<double>(across_.grid);
    inverse_count = count > 0 ? 1 / count : 0;
  }

  const Shape& s_;
  double y_, x_, cos_, sin_;
  RotatedAxis down_, across_;
  double middle_down_, middle_across_, reach_;  ///< the map in the frame of the RoI: a circle about it
};

/// What this backend leaves to others, nullptr for nothing.
inline const char* declined(const Shape& s) {
  return s.sample_ratio > 256 ? "sample_ratio: wanted at most 256" : nullptr;
}

}  // namespace mluops::cpu::roi_align_rotated

namespace mluops::cpu::layout {

template <class Visit>
void visit_images(mluopsRoiAlignRotatedForwardProblem& p, Visit&& visit) {
  const mluopsRoiAlignRotatedShape& s = p.shape;
  visit(p.input, Image{s.batch, s.h * s.w, s.c, element_bytes(s.dtype)});
  visit(p.output, Image{s.rois, s.pooled_h * s.pooled_w, s.c, element_bytes(s.dtype)});
}

}  // namespace mluops::cpu::layout
