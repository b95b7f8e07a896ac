// RoiAlignRotated: a bin of the output is the mean of bilinear samples of the input; its gradient goes to their pixels.
//
// input and grad_input [B,H,W,C], rois [R,6], output and grad_output [R,PH,PW,C]; sampling/point_samples-inl.h says who
// owns what of the output, sampling/channel_sums-inl.h of the gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_align_rotated/roi_align_rotated.cpp"
#include <hwy/foreach_target.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/sampling/point_samples-inl.h"
#include "mluops/problem/roi_align_rotated.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align_rotated::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using Shape = mluopsRoiAlignRotatedShape;

class RotatedRoi {
 public:
  std::int64_t image;
  double inverse_count;  ///< 1 / number of samples of a bin, those off the map included

  static RoiBins bins(const Shape& s) { return {s.rois, s.pooled_h, s.pooled_w, 4}; }
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

  double most_pixels(const RoiBins& of_roi) const {
    return 4 * static_cast<double>(of_roi.rows * of_roi.columns) * static_cast<double>(down_.grid) *
           static_cast<double>(across_.grid);
  }

  /// visit(WeightedPixels) for the samples of a bin that are on the map.
  template <class Visit>
  void for_each_sample(std::int64_t row, std::int64_t column, Visit&& visit) const {
    const CentredAxis::Range rows = down_.near(row, middle_down_, reach_);
    const CentredAxis::Range columns = across_.near(column, middle_across_, reach_);
    for (std::int64_t i = rows.first; i < rows.last; ++i) {
      const double down = down_.sample(row, i);
      for (std::int64_t j = columns.first; j < columns.last; ++j) {
        const double across = across_.sample(column, j);
        visit_point(down * cos_ - across * sin_ + y_, down * sin_ + across * cos_ + x_, s_.h, s_.w, visit);
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
        down_(size_of(n[4] * scale, s), s.pooled_h, s.sample_ratio),
        across_(size_of(n[3] * scale, s), s.pooled_w, s.sample_ratio) {
    const double from_y = static_cast<double>(s.h) / 2 - y_, from_x = static_cast<double>(s.w) / 2 - x_;
    middle_down_ = from_y * cos_ + from_x * sin_;
    middle_across_ = from_x * cos_ - from_y * sin_;
    reach_ = std::hypot(static_cast<double>(s.h), static_cast<double>(s.w)) / 2 + 2;
    inverse_count = inverse_samples(down_, across_);
  }
  static double size_of(double size, const Shape& s) { return s.aligned == 0 ? std::fmax(size, 1.0) : size; }

  const Shape& s_;
  double y_, x_, cos_, sin_;
  CentredAxis down_, across_;
  double middle_down_, middle_across_, reach_;  ///< the map in the frame of the RoI: a circle about it
};

/// The reason to decline a call, nullptr to accept it.
inline const char* declined(const Shape& s) {
  return s.sample_ratio > 256 ? "sample_ratio: wanted at most 256" : nullptr;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsRoiAlignRotatedForwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return run_sum_points<T, RotatedRoi>(context, call, p);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsRoiAlignRotatedBackwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return point_gradient<T, RotatedRoi, mluopsRoiAlignRotatedBackwardProblem>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::roi_align_rotated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_align_rotated_forward, roi_align_rotated, forward, mluopsRoiAlignRotatedForwardProblem,
                 with_element)
MLUOPS_CPU_ENTRY(roi_align_rotated_backward, roi_align_rotated, backward, mluopsRoiAlignRotatedBackwardProblem,
                 with_element)
