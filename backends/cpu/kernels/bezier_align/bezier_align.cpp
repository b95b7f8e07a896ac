// BezierAlign: a bin of the output is the mean of bilinear samples of the input; its gradient goes to their pixels.
//
// input and grad_input [B,H,W,C], beziers [R,17], output and grad_output [R,PH,PW,C]; sampling/point_samples-inl.h says
// who owns what of the output, sampling/channel_sums-inl.h of the gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/bezier_align/bezier_align.cpp"
#include <hwy/foreach_target.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/sampling/point_samples-inl.h"
#include "mluops/problem/bezier_align.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::bezier_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using Shape = mluopsBezierAlignShape;

/// Control points of a curve along one axis.
using Controls = std::array<double, 4>;

inline double on_curve(const Controls& curve, double t) {
  const double u = 1 - t;
  return u * u * u * curve[0] + 3 * t * u * u * curve[1] + 3 * t * t * u * curve[2] + t * t * t * curve[3];
}

/// The upper and the lower curve along one axis, both from left to right.
struct CurvePair {
  Controls upper, lower;

  /// One coordinate of both curves, out of the 17 numbers of a region; `first` is 1 for x, 2 for y.
  template <class T>
  CurvePair(const T* numbers, std::size_t first, double scale) {
    for (std::size_t i = 0; i < 4; ++i) {
      upper[i] = to_acc(numbers[first + 2 * i]) * scale;
      lower[i] = to_acc(numbers[first + 2 * (7 - i)]) * scale;
    }
  }
  /// How far the ends of the curves are apart.
  double size(int aligned) const {
    const double apart = std::fmax(std::fabs(upper[0] - upper[3]), std::fabs(lower[0] - lower[3]));
    return aligned == 0 ? std::fmax(apart, 1.0) : apart;
  }
  double at(double across, double down) const {
    return on_curve(lower, across) * down + on_curve(upper, across) * (1 - down);
  }
};

class BezierRoi {
 public:
  std::int64_t image;
  double inverse_count;

  static RoiBins bins(const Shape& s) { return {s.rois, s.pooled_h, s.pooled_w, 4}; }
  /// Row r of p.beziers.
  template <class T, class Problem>
  static BezierRoi read(const Problem& p, std::int64_t r) {
    return {static_cast<const T*>(p.beziers) + 17 * r, p.shape, p.exact_spatial_scale};
  }

  /// The pixel that the first bin's place is on or nearest to.
  std::int64_t row() const { return index_of(y_.upper[0], s_.h); }
  std::int64_t column() const { return index_of(x_.upper[0], s_.w); }

  double most_pixels(const RoiBins& of_roi) const {
    return 4 * static_cast<double>(of_roi.rows * of_roi.columns) * static_cast<double>(down_.grid) *
           static_cast<double>(across_.grid);
  }

  /// visit(WeightedPixels) for the samples of a bin that are on the map.
  template <class Visit>
  void for_each_sample(std::int64_t row, std::int64_t column, Visit&& visit) const {
    const double across = static_cast<double>(column) / static_cast<double>(s_.pooled_w);
    const double down = static_cast<double>(row) / static_cast<double>(s_.pooled_h);
    const double offset = s_.aligned != 0 ? 0.5 : 0.0, height = static_cast<double>(s_.h),
                 width = static_cast<double>(s_.w);
    const double y = y_.at(across, down) - offset, x = x_.at(across, down) - offset;
    const CentredAxis::Range rows = down_.near(0, height / 2 - y, height / 2 + 2);
    const CentredAxis::Range columns = across_.near(0, width / 2 - x, width / 2 + 2);
    for (std::int64_t i = rows.first; i < rows.last; ++i) {
      for (std::int64_t j = columns.first; j < columns.last; ++j) {
        visit_point(y + down_.sample(0, i), x + across_.sample(0, j), s_.h, s_.w, visit);
      }
    }
  }

 private:
  template <class T>
  BezierRoi(const T* numbers, const Shape& s, double scale)
      : image(index_of(to_acc(numbers[0]), s.batch)),
        s_(s),
        y_(numbers, 2, scale),
        x_(numbers, 1, scale),
        down_(y_.size(s.aligned) / static_cast<double>(s.pooled_h), 1, s.sampling_ratio),
        across_(x_.size(s.aligned) / static_cast<double>(s.pooled_w), 1, s.sampling_ratio) {
    inverse_count = inverse_samples(down_, across_);
  }

  const Shape& s_;
  CurvePair y_, x_;
  CentredAxis down_, across_;  ///< of a bin
};

/// The reason to decline a call, nullptr to accept it.
inline const char* declined(const Shape& s) {
  return s.sampling_ratio > 256 ? "sampling_ratio: wanted at most 256" : nullptr;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsBezierAlignForwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return run_sum_points<T, BezierRoi>(context, call, p);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsBezierAlignBackwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return point_gradient<T, BezierRoi, mluopsBezierAlignBackwardProblem>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::bezier_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(bezier_align_forward, bezier_align, forward, mluopsBezierAlignForwardProblem, with_element)
MLUOPS_CPU_ENTRY(bezier_align_backward, bezier_align, backward, mluopsBezierAlignBackwardProblem, with_element)
