// grad_input of a call whose RoIs each add to an image, each channel at pixels of its own. Include after
// foreach_target.h, like simd-inl.h. channel_sums-inl.h says who owns what.
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/channel_sums-inl.h"
#include "backends/cpu/sampling/roi_order.h"

#if defined(MLUOPS_CPU_SAMPLING_ROI_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SAMPLING_ROI_GRADIENT_INL_H_
#else
#define MLUOPS_CPU_SAMPLING_ROI_GRADIENT_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// NCHW's planes one after the other need no transposes, and a plane is soon in the first caches. NHWC's sums are
/// panels, since pixels a power of two apart displace each other, unless so few `additions` to a channel come that
/// clearing and emptying panels would cost more.
template <class T>
Owned owned_by_task(const layout::Elements& map, std::int64_t images, double additions, const mluopsCall& call) {
  constexpr std::int64_t kLeast = layout::kBlockChannels<Acc<T>>;
  constexpr double kFew = 0.5;  // for a pixel
  if (map.planes) return {1, kAddsInPlace<T>};
  const bool few = kAddsInPlace<T> && additions <= kFew * static_cast<double>(images * map.pixels);
  return few ? even_share<T>(map, images, call) : Owned{kLeast, false};
}

/// The RoIs of an image add to channels of a task, in their order. Step: an integer, or one that is known.
template <class T, class Rois, class Step>
void add_rois_of_image(const Rois& rois, std::span<const PlacedRoi> placed, const BandTask& task, Acc<T>* to,
                       Step step) {
  constexpr std::size_t kAhead = 4;  // RoIs
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (i + kAhead < placed.size()) rois.fetch(placed[i + kAhead].roi, task.first, task.end);
    rois.add(placed[i].roi, task.first, task.end,
             [&](std::int64_t pixel, std::int64_t c, Acc<T> value) { to[pixel * step + c - task.first] += value; });
  }
}

template <class T, class Rois, class Problem>
mluOpStatus_t add_rois(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  constexpr std::int64_t kBlock = layout::kBlockChannels<A>;
  const auto& s = p.shape;
  const Rois rois{p};
  const layout::Elements map{s.h * s.w, s.c, p.layout == MLUOP_LAYOUT_NCHW};
  const double additions = rois.additions() * static_cast<double>(rois.count());
  const Owned owned = owned_by_task<T>(map, s.batch, additions, call);
  const ChannelSums<T> sums{static_cast<T*>(p.grad_input), map, s.batch, nullptr};
  auto order = allocate<RoiOrder>(context.arena, rois.count());
  const auto scratch = allocate<SumScratch<A>>(context.sums, sums.slots(call, owned), sums.most_rows(), owned.channels);
  if (!order || !scratch) return no_memory(call);
  order->sort(context, call, [&](std::int64_t roi) HWY_ATTR { return rois.place(roi); });
  const auto add = [&](const BandTask& task, A* to, std::int64_t step) HWY_ATTR {
    const auto placed = order->of_image(task.image);
    if (step == 1) return add_rois_of_image<T>(rois, placed, task, to, std::integral_constant<std::int64_t, 1>());
    if (step == kBlock) {
      return add_rois_of_image<T>(rois, placed, task, to, std::integral_constant<std::int64_t, kBlock>());
    }
    add_rois_of_image<T>(rois, placed, task, to, step);
  };
  sums.run(context, call, owned, additions, scratch->sums, add);
  return MLUOP_STATUS_SUCCESS;
}

/// Rois{p}: count() of them; place(roi), a PlacedRoi; additions() of one to a channel; add(roi, first, end, to), which
/// calls to(pixel, channel, value) for its channels [first, end), and fetch(roi, first, end), which prefetches what
/// that reads.
template <class T, class Rois, class Problem>
mluOpStatus_t roi_gradient(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {{"owner", always<Problem>, add_rois<T, Rois, Problem>}};
  return run_path(context, call, p, kPaths);
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
