// RoiAlign backward: a bin's gradient goes to the pixels of its samples (the mean: sampling/roi_mean/) or to those of
// its greatest one (scatter/channel_sums-inl.h says who owns what).
//
// Greatest: grad_output, argmax_x and argmax_y [rois,pooled_h,pooled_w,c], grad_input [batch,h,w,c]. Four additions for
// each element read: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_align/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_align/geometry.h"
#include "backends/cpu/sampling/roi_gradient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// What the RoIs add to grad_input.
template <class T>
struct Rois {
  static constexpr bool kOwnPixels = true;
  const BackwardProblem& p;

  std::int64_t count() const { return p.shape.rois; }
  double additions() const { return 4 * static_cast<double>(p.shape.pooled_h * p.shape.pooled_w); }
  PlacedRoi place(std::int64_t r) const {
    using A = Acc<T>;
    const roi_mean::Shape grid = mean_shape(p);
    const auto roi = Roi<A>::read(static_cast<const T*>(p.rois) + 5 * r, grid, grid.aligned);
    return {roi.batch, BinAxis<A>(roi.y, A{0}, 0).middle(grid.h), BinAxis<A>(roi.x, A{0}, 0).middle(grid.w), r};
  }
  /// to(pixel, channel, value) for channels [first, end) of a RoI's bins that have a greatest sample.
  template <class Add>
  HWY_INLINE void add(std::int64_t roi, std::int64_t first, std::int64_t end, Add&& to) const {
    using A = Acc<T>;
    const Shape& s = p.shape;
    const auto* const grad = static_cast<const T*>(p.grad_output);
    const auto *const ys = static_cast<const T*>(p.argmax_y), *const xs = static_cast<const T*>(p.argmax_x);
    const layout::Elements bins = elements();
    for (std::int64_t bin = 0; bin < bins.pixels; ++bin) {
      for (std::int64_t c = first; c < end; ++c) {
        const std::int64_t element = bins.at(roi, c) + bin * bins.pixel();
        const A at_y = to_acc(ys[element]), g = to_acc(grad[element]);
        AxisSample<A> y, x;
        if (at_y == A{-1} || !sample_axis(at_y, s.h, y) || !sample_axis(to_acc(xs[element]), s.w, x)) continue;
        to(y.low * s.w + x.low, c, y.low_weight * x.low_weight * g);
        to(y.low * s.w + x.high, c, y.low_weight * x.high_weight * g);
        to(y.high * s.w + x.low, c, y.high_weight * x.low_weight * g);
        to(y.high * s.w + x.high, c, y.high_weight * x.high_weight * g);
      }
    }
  }
  HWY_INLINE void fetch(std::int64_t roi, std::int64_t first, std::int64_t end) const {
    for (const void* const read : {p.grad_output, p.argmax_y, p.argmax_x}) {
      elements().fetch_run(static_cast<const T*>(read), roi, first, end);
    }
  }

 private:
  layout::Elements elements() const {
    return {p.shape.pooled_h * p.shape.pooled_w, p.shape.c, p.layout == MLUOP_LAYOUT_NCHW};
  }
};

template <class T>
mluOpStatus_t greatest_backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  return roi_gradient<T, Rois<T>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::roi_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_FUNCTION(roi_align::greatest_backward, roi_align, greatest_backward, mluopsRoiAlignBackwardProblem,
                    with_element)

#if HWY_ONCE
namespace mluops::cpu {

mluOpStatus_t operators::roi_align_backward(Context& context, const mluopsCall& call,
                                            const mluopsRoiAlignBackwardProblem& p) {
  if (const char* const reason = roi_align::declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  if (p.shape.mean == 0) return roi_align::greatest_backward(context, call, p);
  return roi_mean::backward(
      context, call,
      {roi_align::mean_shape(p), p.grad_output, nullptr, p.rois, nullptr, p.grad_input, nullptr, p.layout});
}

}  // namespace mluops::cpu
#endif
