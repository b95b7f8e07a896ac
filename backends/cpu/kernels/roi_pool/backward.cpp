// RoiPooling backward: the gradient of each bin goes to the pixel that argmax names (scatter/channel_sums-inl.h says
// who owns what).
//
// grad_output and argmax [R,PH,PW,C], grad_input [B,H,W,C]. One addition for each element read: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_pool/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_pool/geometry.h"
#include "backends/cpu/sampling/roi_order.h"
#include "backends/cpu/scatter/channel_sums-inl.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/prefetch.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiPoolBackwardProblem;

/// add(pixel, channel, value) for the elements of channels [first, end) of a RoI that have a pixel.
template <class T, class Add>
HWY_INLINE void add_roi(const BackwardProblem& p, std::int64_t roi, std::int64_t first, std::int64_t end, Add&& add) {
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
      if (pixel >= 0 && pixel < pixels) add(pixel, c, to_acc(grad[element]));
    }
  }
}

template <class A>
struct BackwardArrays {
  RoiOrder order;
  A* sums;  ///< panels of all threads, or of the whole map

  BackwardArrays(Allocator& allocator, const Shape& s, std::int64_t sum_count)
      : order(allocator, s.rois), sums(allocator.allocate<A>(sum_count)) {}
};

template <class T, bool kAtomic>
mluOpStatus_t add_rois(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const layout::Elements map{s.h * s.w, s.c, p.layout == MLUOP_LAYOUT_NCHW};
  const std::int64_t sum_count = kAtomic ? atomic_sums<T>(map, s.batch) : owner_sums<T>(map, s.batch, call);
  auto arrays = allocate<BackwardArrays<A>>(context.arena, s, sum_count);
  if (!arrays) return no_memory(call);
  arrays->order.sort([&](std::int64_t r) {
    const auto roi = Roi<A>::template read<T>(p, r);
    return PlacedRoi{roi.image, roi.y.of(0).first, roi.x.of(0).first, r};
  });
  const auto rois_of = [&](std::int64_t image) { return arrays->order.of_image(image); };
  const auto add = [&](std::int64_t roi, std::int64_t first, std::int64_t end, auto&& to)
                       HWY_ATTR { add_roi<T>(p, roi, first, end, to); };
  const double additions = static_cast<double>(s.pooled_h * s.pooled_w);
  const ChannelSums<T, decltype(rois_of), decltype(add)> sums{
      static_cast<T*>(p.grad_input), map, s.batch, s.rois, additions, rois_of, add};
  if constexpr (kAtomic) {
    sums.by_atomics(context, call, arrays->sums);
  } else {
    sums.by_owner(context, call, arrays->sums);
  }
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  static constexpr Path<BackwardProblem> kPaths[] = {
      {kAtomicPath, atomic_applies<BackwardProblem>, add_rois<T, true>},
      {"owner", always<BackwardProblem>, add_rois<T, false>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(backward, mluopsRoiPoolBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(roi_pool_backward, roi_pool, backward, mluopsRoiPoolBackwardProblem)

}  // namespace mluops::cpu
#endif
