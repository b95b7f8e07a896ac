// The points of each pixel's box. A row of pixels is one RoI, whose bins they are: in NHWC alone.
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/sampling/point_samples.h"
#include "backends/cpu/simd/element.h"
#include "mluops/problem/rotated_feature_align.h"

namespace mluops::cpu::rotated_feature_align {

using Shape = mluopsRotatedFeatureAlignShape;

/// The boxes of a row of pixels.
template <class T>
class BoxesOfRow {
 public:
  std::int64_t image;
  static constexpr double inverse_count = 1;

  /// `of`: a row of all images.
  BoxesOfRow(const Shape& s, const void* boxes, std::int64_t of, double scale)
      : image(of / s.h), s_(s), row_(of % s.h), boxes_(static_cast<const T*>(boxes) + 5 * of * s.w), scale_(scale) {}

  std::int64_t row() const { return row_; }
  static std::int64_t column() { return 0; }
  double most_pixels(const RoiBins& of_row) const { return static_cast<double>(of_row.columns * (1 + 4 * s_.points)); }

  /// visit(WeightedPixels) for the pixel itself and the points of its box that are on the map.
  template <class Visit>
  void for_each_sample(std::int64_t, std::int64_t column, Visit&& visit) const {
    visit(WeightedPixels<1>{{row_ * s_.w + column}, {1.0}});
    const T* const box = boxes_ + 5 * column;
    const double y = to_acc(box[0]) * scale_, x = to_acc(box[1]) * scale_;
    visit_point(y, x, s_.h, s_.w, visit);
    if (s_.points == 1) return;
    const double width = to_acc(box[2]) * scale_ / 2, height = to_acc(box[3]) * scale_ / 2;
    const double cos = std::cos(double{to_acc(box[4])}), sin = std::sin(double{to_acc(box[4])});
    constexpr double kCorners[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    for (const auto& [along, across] : kCorners) {
      visit_point(y + along * sin * width + across * cos * height, x + along * cos * width - across * sin * height,
                  s_.h, s_.w, visit);
    }
  }

 private:
  const Shape& s_;
  std::int64_t row_;
  const T* boxes_;
  double scale_;
};

struct BoxesOfMap {
  static RoiBins bins(const Shape& s) { return {s.batch * s.h, 1, s.w, static_cast<double>(s.points) + 0.25}; }
  template <class T, class Problem>
  static BoxesOfRow<T> read(const Problem& p, std::int64_t row) {
    return {p.shape, p.bboxes, row, p.exact_spatial_scale};
  }
};

}  // namespace mluops::cpu::rotated_feature_align

namespace mluops::cpu::layout {

template <class Visit>
void visit_images(mluopsRotatedFeatureAlignForwardProblem& p, Visit&& visit) {
  const mluopsRotatedFeatureAlignShape& s = p.shape;
  visit(p.input, Image{s.batch, s.h * s.w, s.c, element_bytes(s.dtype)});
  visit(p.output, Image{s.batch, s.h * s.w, s.c, element_bytes(s.dtype)});
}
template <class Visit>
void visit_images(mluopsRotatedFeatureAlignBackwardProblem& p, Visit&& visit) {
  const mluopsRotatedFeatureAlignShape& s = p.shape;
  visit(p.grad_output, Image{s.batch, s.h * s.w, s.c, element_bytes(s.dtype)});
  visit(p.grad_input, Image{s.batch, s.h * s.w, s.c, element_bytes(s.dtype)});
}

}  // namespace mluops::cpu::layout
