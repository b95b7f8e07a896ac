// RoiPooling backward: the gradient of each bin goes to the pixel that argmax names (scatter/channel_sums-inl.h says
// who owns what).
//
// grad_output and argmax [R,PH,PW,C], grad_input [B,H,W,C]. One addition for each element read: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_pool/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_pool/geometry.h"
#include "backends/cpu/sampling/roi_gradient-inl.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/prefetch.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiPoolBackwardProblem;

/// What the RoIs add to grad_input.
template <class T>
struct Rois {
  const BackwardProblem& p;

  std::int64_t count() const { return p.shape.rois; }
  double additions() const { return static_cast<double>(p.shape.pooled_h * p.shape.pooled_w); }
  PlacedRoi place(std::int64_t r) const {
    const auto roi = Roi<Acc<T>>::template read<T>(p, r);
    return {roi.image, roi.y.of(0).first, roi.x.of(0).first, r};
  }
  /// to(pixel, channel, value) for the elements of channels [first, end) of a RoI that have a pixel.
  template <class Add>
  HWY_INLINE void add(std::int64_t roi, std::int64_t first, std::int64_t end, Add&& to) const {
    const Shape& s = p.shape;
    const auto* const grad = static_cast<const T*>(p.grad_output);
    const std::int64_t pixels = s.h * s.w;
    const layout::Elements bins{s.pooled_h * s.pooled_w, s.c, p.layout == MLUOP_LAYOUT_NCHW};
    constexpr std::int64_t kAhead = 8;
    for (std::int64_t bin = 0; bin < bins.pixels; ++bin) {
      if (!bins.planes && end - first < s.c) {  // a part of each bin: the next ones are not what the core expects
        const std::int64_t next = bins.at(roi, first) + (bin + kAhead) * bins.pixel();
        prefetch(value_barrier(grad + next), end - first);
        prefetch(value_barrier(p.argmax + next), end - first);
      }
      for (std::int64_t c = first; c < end; ++c) {
        const std::int64_t element = bins.at(roi, c) + bin * bins.pixel(), pixel = p.argmax[element];
        if (pixel >= 0 && pixel < pixels) to(pixel, c, to_acc(grad[element]));
      }
    }
  }
};

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  return roi_gradient<T, Rois<T>>(context, call, p);
}

MLUOPS_CPU_KERNEL(backward, mluopsRoiPoolBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
MLUOPS_CPU_ENTRY(roi_pool_backward, roi_pool, backward, mluopsRoiPoolBackwardProblem)
#endif
