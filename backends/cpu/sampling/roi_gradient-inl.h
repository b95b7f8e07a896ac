// grad_input of a call whose RoIs (or grids) each add to an image, by scatter/channel_sums-inl.h.
// Include after foreach_target.h, like simd-inl.h.
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/roi_order.h"
#include "backends/cpu/scatter/channel_sums-inl.h"

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
  A* sums;  ///< of all threads

  RoiGradientArrays(Allocator& allocator, std::int64_t rois, std::int64_t sum_count)
      : order(allocator, rois), sums(allocator.allocate<A>(sum_count)) {}
};

template <class T, class Rois, class Problem>
mluOpStatus_t add_rois(Context& context, const mluopsCall& call, const Problem& p) {
  const auto& s = p.shape;
  const Rois rois{p};
  const layout::Elements map{s.h * s.w, s.c, p.layout == MLUOP_LAYOUT_NCHW};
  const std::int64_t sum_count = sums_of_tasks<T, Rois::kOwnPixels>(map, s.batch, call);
  auto arrays = allocate<RoiGradientArrays<Acc<T>>>(context.arena, rois.count(), sum_count);
  if (!arrays) return no_memory(call);
  arrays->order.sort([&](std::int64_t roi) HWY_ATTR { return rois.place(roi); });
  const auto rois_of = [&](std::int64_t image) { return arrays->order.of_image(image); };
  const ChannelSums<T, decltype(rois_of), Rois> sums{static_cast<T*>(p.grad_input), map, s.batch, rois_of, rois};
  sums.run(context, call, arrays->sums);
  return MLUOP_STATUS_SUCCESS;
}

/// Rois{p}: count() of them; place(roi), a PlacedRoi; additions() of one to a channel; kOwnPixels, add and fetch as
/// ChannelSums has them.
template <class T, class Rois, class Problem>
mluOpStatus_t roi_gradient(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {{"owner", always<Problem>, add_rois<T, Rois, Problem>}};
  return run_path(context, call, p, kPaths);
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
