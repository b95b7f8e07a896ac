// RoiAlignRotated backward: a bin's gradient goes to the pixels of its samples (scatter/channel_sums-inl.h says who
// owns what).
//
// grad_output [R,PH,PW,C], rois [R,6], grad_input [B,H,W,C]. Four additions a sample and channel, at pixels found once
// for each block of channels: bound by the caches the sums lie in.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_align_rotated/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_align_rotated/geometry.h"
#include "backends/cpu/sampling/roi_gradient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align_rotated::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiAlignRotatedBackwardProblem;

/// What the RoIs add to grad_input.
template <class T>
struct Rois {
  static constexpr bool kOwnPixels = false;
  const BackwardProblem& p;

  std::int64_t count() const { return p.shape.rois; }
  double additions() const {
    constexpr double kUsualSamples = 4;
    return 4 * kUsualSamples * static_cast<double>(p.shape.pooled_h * p.shape.pooled_w);
  }
  PlacedRoi place(std::int64_t r) const {
    const auto roi = RotatedRoi::read<T>(p, r);
    return {roi.image, roi.row(), roi.column(), r};
  }
  /// to(pixel, channel, value) for channels [first, end) of a RoI's samples.
  template <class Add>
  HWY_INLINE void add(std::int64_t r, std::int64_t first, std::int64_t end, Add&& to) const {
    using A = Acc<T>;
    const Shape& s = p.shape;
    const auto* const grad = static_cast<const T*>(p.grad_output);
    const layout::Elements bins = elements();
    const auto roi = RotatedRoi::read<T>(p, r);
    constexpr std::int64_t kMost = 256;
    A own[kMost];  // of a bin: no store of to() can change it, so loops over channels become vectors
    for (std::int64_t bin = 0; bin < bins.pixels; ++bin) {
      for (std::int64_t from = first; from < end; from += kMost) {
        const std::int64_t count = std::min(kMost, end - from), at = bins.at(r, from) + bin * bins.pixel();
        for (std::int64_t i = 0; i < count; ++i) own[i] = to_acc(grad[at + i * bins.channel()]);
        roi.for_each_sample(bin / s.pooled_w, bin % s.pooled_w, [&](const FourPixels& sample) HWY_ATTR {
          for (std::size_t k = 0; k < 4; ++k) {
            const A weight = static_cast<A>(sample.weight[k] * roi.inverse_count);
            for (std::int64_t i = 0; i < count; ++i) to(sample.pixel[k], from + i, weight * own[i]);
          }
        });
      }
    }
  }
  HWY_INLINE void fetch(std::int64_t roi, std::int64_t first, std::int64_t end) const {
    elements().fetch_run(static_cast<const T*>(p.grad_output), roi, first, end);
  }

 private:
  layout::Elements elements() const {
    return {p.shape.pooled_h * p.shape.pooled_w, p.shape.c, p.layout == MLUOP_LAYOUT_NCHW};
  }
};

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return roi_gradient<T, Rois<T>>(context, call, p);
}

MLUOPS_CPU_KERNEL(backward, mluopsRoiAlignRotatedBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_align_rotated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
MLUOPS_CPU_ENTRY(roi_align_rotated_backward, roi_align_rotated, backward, mluopsRoiAlignRotatedBackwardProblem)
#endif
