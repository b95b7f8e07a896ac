// RoiCrop backward: a sample's gradient goes to its four pixels (scatter/channel_sums-inl.h says who owns what).
//
// grad_output [G,OH,OW,C], grid [G,OH,OW,2], grad_input [B,H,W,C]. Four additions a sample and channel, at pixels found
// once for each block of channels: bound by the caches the sums lie in.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_crop/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_crop/geometry.h"
#include "backends/cpu/sampling/roi_order.h"
#include "backends/cpu/scatter/channel_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_crop::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiCropBackwardProblem;

/// add(pixel, channel, value) for channels [first, end) of the points of a grid.
template <class T, class Add>
HWY_INLINE void add_grid(const BackwardProblem& p, std::int64_t grid, std::int64_t first, std::int64_t end, Add&& add) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const layout::Elements out{s.out_h * s.out_w, s.c, p.layout == MLUOP_LAYOUT_NCHW};
  constexpr std::int64_t kMost = 256;
  A own[kMost];  // of a point: no store of add() can change it, so loops over channels become vectors
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
        for (std::int64_t c = 0; c < count; ++c) add(found.pixel[k], from + c, found.weight[k] * own[c]);
      }
    }
  }
}

template <class A>
struct Arrays {
  RoiOrder order;
  A* sums;  ///< panels of all threads, or of the whole map

  Arrays(Allocator& allocator, const Shape& s, std::int64_t sum_count)
      : order(allocator, s.grids), sums(allocator.allocate<A>(sum_count)) {}
};

template <class T, bool kAtomic>
mluOpStatus_t add_grids(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const layout::Elements map{s.h * s.w, s.c, p.layout == MLUOP_LAYOUT_NCHW};
  const std::int64_t sum_count = kAtomic ? atomic_sums<T>(map, s.batch) : owner_sums<T>(map, s.batch, call);
  auto arrays = allocate<Arrays<Acc<T>>>(context.arena, s, sum_count);
  if (!arrays) return no_memory(call);
  arrays->order.sort([&](std::int64_t g) { return PlacedRoi{image_of(s, g), 0, 0, g}; });
  const auto grids_of = [&](std::int64_t image) { return arrays->order.of_image(image); };
  const auto add = [&](std::int64_t grid, std::int64_t first, std::int64_t end, auto&& to)
                       HWY_ATTR { add_grid<T>(p, grid, first, end, to); };
  const double additions = 4 * static_cast<double>(s.out_h * s.out_w);
  const ChannelSums<T, decltype(grids_of), decltype(add)> sums{
      static_cast<T*>(p.grad_input), map, s.batch, s.grids, additions, grids_of, add};
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
      {kAtomicPath, atomic_applies<BackwardProblem>, add_grids<T, true>},
      {"owner", always<BackwardProblem>, add_grids<T, false>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(backward, mluopsRoiCropBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(roi_crop_backward, roi_crop, backward, mluopsRoiCropBackwardProblem)

}  // namespace mluops::cpu
#endif
