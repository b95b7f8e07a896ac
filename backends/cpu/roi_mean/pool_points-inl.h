// Means of RoIs' bins, forward in NCHW of few RoIs: from the planes where they lie (sampling/point_planes-inl.h).
#if defined(MLUOPS_CPU_ROI_MEAN_POOL_POINTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_POOL_POINTS_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_POOL_POINTS_INL_H_
#endif

#include "backends/cpu/roi_mean/geometry.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/point_planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// A RoI and the samples of its bins.
template <class T>
class SampledRoi {
 public:
  using A = Acc<T>;

  SampledRoi(const ForwardProblem& p, std::int64_t r)
      : s_(p.shape), roi_(Roi<A>::read(static_cast<const T*>(p.rois) + 5 * r, s_, s_.aligned)) {
    if (p.offset != nullptr) offset_ = static_cast<const T*>(p.offset) + 2 * r * s_.pooled_h * s_.pooled_w;
    image = roi_.batch;
    inverse_count = static_cast<double>(roi_.inverse_count);
  }

  std::int64_t image;
  double inverse_count;

  double most_pixels(const RoiBins& of_roi) const {
    return 4 * static_cast<double>(of_roi.rows * of_roi.columns) * static_cast<double>(roi_.y.grid) *
           static_cast<double>(roi_.x.grid);
  }
  /// Pixels of a bin, each once but for those whose weights must not be added up (TapList); of a bin with very many
  /// samples once for each.
  template <class Visit>
  void for_each_sample(std::int64_t row, std::int64_t column, Visit&& visit) const {
    constexpr std::int64_t kMost = 64;
    const Bins<T> bins(s_, offset_, &roi_);
    const BinPlace at{row * s_.pooled_w + column, 0, row, column};
    const BinAxis<A> y = bins.y(at), x = bins.x(at);
    if (std::max(y.grid, x.grid) > kMost) return for_each_of_many(y, x, visit);
    Tap<A> room[4 * kMost];
    const TapList<A> rows(room, y, s_.h, {0, s_.h}), columns(room + 2 * kMost, x, s_.w, {0, s_.w});
    for (const Tap<A>& down : rows) {
      for (const Tap<A>& across : columns) {
        visit(WeightedPixels<1>{{down.index * s_.w + across.index}, {down.weight * across.weight}});
      }
    }
  }

 private:
  template <class Visit>
  void for_each_of_many(const BinAxis<A>& y, const BinAxis<A>& x, Visit& visit) const {
    const auto rows = y.on_map(s_.h), columns = x.on_map(s_.w);
    AxisSample<A> down, across;
    for (std::int64_t i = rows.first; i < rows.last; ++i) {
      if (!sample_axis(y.coordinate(i), s_.h, down)) continue;
      for (std::int64_t j = columns.first; j < columns.last; ++j) {
        if (sample_axis(x.coordinate(j), s_.w, across)) visit(pixels(down, across));
      }
    }
  }
  WeightedPixels<4> pixels(const AxisSample<A>& down, const AxisSample<A>& across) const {
    const std::int64_t low = down.low * s_.w, high = down.high * s_.w;
    return {{low + across.low, low + across.high, high + across.low, high + across.high},
            {down.low_weight * across.low_weight, down.low_weight * across.high_weight,
             down.high_weight * across.low_weight, down.high_weight * across.high_weight}};
  }

  const Shape& s_;
  Roi<A> roi_;
  const T* offset_ = nullptr;
};

struct SampledRois {
  static RoiBins bins(const Shape& s) { return {s.rois, s.pooled_h, s.pooled_w, 4}; }
  template <class T>
  static SampledRoi<T> read(const ForwardProblem& p, std::int64_t r) {
    return {p, r};
  }
};

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
