// RoiCrop backward: a sample's gradient goes to its four pixels (scatter/channel_sums-inl.h says who owns what).
//
// grad_output [G,OH,OW,C], grid [G,OH,OW,2], grad_input [B,H,W,C]. Four additions a sample and channel, at pixels found
// once for each block of channels: bound by the caches the sums lie in.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_crop/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_crop/geometry.h"
#include "backends/cpu/sampling/roi_gradient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_crop::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiCropBackwardProblem;

/// What the grids add to grad_input.
template <class T>
struct Rois {
  static constexpr bool kOwnPixels = false;
  const BackwardProblem& p;

  std::int64_t count() const { return p.shape.grids; }
  double additions() const { return 4 * static_cast<double>(p.shape.out_h * p.shape.out_w); }
  PlacedRoi place(std::int64_t grid) const { return {image_of(p.shape, grid), 0, 0, grid}; }
  /// to(pixel, channel, value) for channels [first, end) of the points of a grid.
  template <class Add>
  HWY_INLINE void add(std::int64_t grid, std::int64_t first, std::int64_t end, Add&& to) const {
    using A = Acc<T>;
    const Shape& s = p.shape;
    const layout::Elements out = elements();
    constexpr std::int64_t kMost = 256;
    A own[kMost];  // of a point: no store of to() can change it, so loops over channels become vectors
    for (std::int64_t i = 0; i < out.pixels; ++i) {
      PaddedSample<A> found;
      if (!sample<T>(s, p.grid, grid * out.pixels + i, found)) continue;
      for (std::int64_t from = first; from < end; from += kMost) {
        const std::int64_t count = std::min(kMost, end - from), at = out.at(grid, from) + i * out.pixel();
        for (std::int64_t c = 0; c < count; ++c) {
          own[c] = to_acc(static_cast<const T*>(p.grad_output)[at + c * out.channel()]);
        }
        for (std::size_t k = 0; k < 4; ++k) {
          if (!found.on_map[k]) continue;
          for (std::int64_t c = 0; c < count; ++c) to(found.pixel[k], from + c, found.weight[k] * own[c]);
        }
      }
    }
  }
  HWY_INLINE void fetch(std::int64_t grid, std::int64_t first, std::int64_t end) const {
    elements().fetch_run(static_cast<const T*>(p.grad_output), grid, first, end);
  }

 private:
  layout::Elements elements() const {
    return {p.shape.out_h * p.shape.out_w, p.shape.c, p.layout == MLUOP_LAYOUT_NCHW};
  }
};

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  return roi_gradient<T, Rois<T>>(context, call, p);
}

MLUOPS_CPU_KERNEL(backward, mluopsRoiCropBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
MLUOPS_CPU_ENTRY(roi_crop_backward, roi_crop, backward, mluopsRoiCropBackwardProblem)
#endif
