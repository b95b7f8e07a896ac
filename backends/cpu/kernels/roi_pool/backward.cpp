// RoiPooling backward: the gradient of each bin goes to the pixel that argmax names (sampling/roi_gradient-inl.h says
// who owns what).
//
// grad_output and argmax [R,PH,PW,C], grad_input [B,H,W,C]. One addition for each element read, a scalar one: bound by
// those and by the cache that the sums of a task lie in.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_pool/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_pool/geometry.h"
#include "backends/cpu/sampling/roi_gradient-inl.h"
#include "mluops/problem/roi_pool.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiPoolBackwardProblem;

/// What the RoIs add to grad_input.
template <class T>
struct Rois {
  static constexpr bool kOwnPixels = true;
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
    const layout::Elements bins = elements();
    const std::int64_t at = bins.at(roi, first);
    if (bins.planes) {
      for (std::int64_t c = first; c < end; ++c) {
        add_run<1>(at + (c - first) * bins.pixels, bins.pixels,
                   [&](std::int64_t, std::int64_t pixel, Acc<T> value) { to(pixel, c, value); });
      }
    } else {
      for (std::int64_t bin = 0; bin < bins.pixels; ++bin) {
        add_run<layout::kBlockChannels<Acc<T>>>(
            at + bin * bins.channels, end - first,
            [&](std::int64_t i, std::int64_t pixel, Acc<T> value) { to(pixel, first + i, value); });
      }
    }
  }
  HWY_INLINE void fetch(std::int64_t roi, std::int64_t first, std::int64_t end) const {
    elements().fetch_run(static_cast<const T*>(p.grad_output), roi, first, end);
    elements().fetch_run(p.argmax, roi, first, end);
  }

 private:
  /// to(i, pixel, value) for those of elements [at, at + n) that have a pixel. Of runs as short as kTogether the end
  /// would come as a surprise.
  template <std::int64_t kTogether, class Add>
  HWY_INLINE void add_run(std::int64_t at, std::int64_t n, Add&& to) const {
    constexpr std::int64_t kMost = 64;
    const auto pixels = static_cast<std::uint64_t>(p.shape.h * p.shape.w);
    for (std::int64_t first = 0; first < n; first += kMost) {
      HWY_ALIGN Acc<T> promoted[kMost];
      const std::int64_t count = std::min(kMost, n - first);
      const Acc<T>* const grad = promote_run(static_cast<const T*>(p.grad_output) + at + first, count, promoted);
      const std::int32_t* const argmax = p.argmax + at + first;
      const auto add_element = [&](std::int64_t i) {
        const auto pixel = static_cast<std::uint64_t>(std::int64_t{argmax[i]});
        if (pixel < pixels) to(first + i, static_cast<std::int64_t>(pixel), grad[i]);
      };
      std::int64_t i = 0;
      for (; i + kTogether <= count; i += kTogether) {
        MLUOPS_UNROLL
        for (std::int64_t k = 0; k < kTogether; ++k) add_element(i + k);
      }
      for (; i < count; ++i) add_element(i);
    }
  }
  static const Acc<T>* promote_run(const T* run, std::int64_t n, Acc<T>* to) {
    if constexpr (std::is_same_v<T, Acc<T>>) {
      return run;
    } else {
      load_row(run, to, n);
      return to;
    }
  }
  layout::Elements elements() const {
    return {p.shape.pooled_h * p.shape.pooled_w, p.shape.c, p.layout == MLUOP_LAYOUT_NCHW};
  }
};

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  return roi_gradient<T, Rois<T>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::roi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_pool_backward, roi_pool, backward, mluopsRoiPoolBackwardProblem, with_element)
