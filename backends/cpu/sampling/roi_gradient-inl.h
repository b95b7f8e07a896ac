// grad_input of a call whose RoIs (or grids) each add to an image, by the strategies of scatter/channel_sums-inl.h.
// Include after foreach_target.h, like simd-inl.h.
#include "backends/cpu/sampling/roi_order.h"
#include "backends/cpu/scatter/channel_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"

#if defined(MLUOPS_CPU_SAMPLING_ROI_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SAMPLING_ROI_GRADIENT_INL_H_
#else
#define MLUOPS_CPU_SAMPLING_ROI_GRADIENT_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

template <class A>
struct RoiGradientArrays {
  RoiOrder order;
  A* sums;  ///< panels of all threads, or of the whole map

  RoiGradientArrays(Allocator& allocator, std::int64_t rois, std::int64_t sum_count)
      : order(allocator, rois), sums(allocator.allocate<A>(sum_count)) {}
};

template <class T, class Rois, bool kAtomic, class Problem>
mluOpStatus_t add_rois(Context& context, const mluopsCall& call, const Problem& p) {
  const auto& s = p.shape;
  const Rois rois{p};
  const layout::Elements map{s.h * s.w, s.c, p.layout == MLUOP_LAYOUT_NCHW};
  const std::int64_t sum_count =
      kAtomic ? atomic_sums<T>(map, s.batch) : owner_sums<T, Rois::kOwnPixels>(map, s.batch, call);
  auto arrays = allocate<RoiGradientArrays<Acc<T>>>(context.arena, rois.count(), sum_count);
  if (!arrays) return no_memory(call);
  arrays->order.sort([&](std::int64_t roi) HWY_ATTR { return rois.place(roi); });
  const auto rois_of = [&](std::int64_t image) { return arrays->order.of_image(image); };
  const ChannelSums<T, decltype(rois_of), Rois> sums{static_cast<T*>(p.grad_input), map, s.batch, rois_of, rois};
  if constexpr (kAtomic) {
    sums.by_atomics(context, call, arrays->sums);
  } else {
    sums.by_owner(context, call, arrays->sums);
  }
  return MLUOP_STATUS_SUCCESS;
}

/// Rois{p}: count() of them; place(roi), a PlacedRoi; additions() of one to a channel; kOwnPixels, add and fetch as
/// ChannelSums has them.
template <class T, class Rois, class Problem>
mluOpStatus_t roi_gradient(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {
      {kAtomicPath, atomic_applies<Problem>, add_rois<T, Rois, true, Problem>},
      {"owner", always<Problem>, add_rois<T, Rois, false, Problem>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
