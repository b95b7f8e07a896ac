// RoiCrop backward: a sample's gradient goes to its four pixels.
//
// grad_output [G,OH,OW,C], grid [G,OH,OW,2], grad_input [B,H,W,C]. Two flops an addition, bound by the caches that the
// sums lie in: vectors of channels (sampling/channel_sums-inl.h says who owns what), or one plane after the other where
// NCHW has few of them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_crop/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_crop/grid_points-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "mluops/problem/roi_crop.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_crop::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiCropBackwardProblem;

template <class T>
mluOpStatus_t add_grids(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const GridRois<T> grids(s, p.grid);
  return add_samples(context, call, {{s.dtype, s.batch, s.h, s.w, s.c}, p.layout, p.grad_output, p.grad_input, grids});
}

/// Sums of a plane, where elements are narrower than those.
template <class A>
struct PlaneSums {
  A* sums;

  PlaneSums(Allocator& allocator, std::int64_t pixels) : sums(allocator.allocate<A>(pixels)) {}
};

/// Adds what the samples of an image's grids have of one channel, in the order of add_grids.
template <class T>
void add_plane(const BackwardProblem& p, std::int64_t image, std::int64_t channel, Acc<T>* sums) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t points = s.out_h * s.out_w, of_image = s.grids / s.batch;
  for (std::int64_t grid = image * of_image; grid < (image + 1) * of_image; ++grid) {
    const T* const grad = static_cast<const T*>(p.grad_output) + (grid * s.c + channel) * points;
    for (std::int64_t first = 0; first < points; first += PlaneBlock<A>::kMost) {
      PlaneBlock<A> block;
      HWY_ALIGN A promoted[PlaneBlock<A>::kMost];
      const std::int64_t count = std::min(block.kMost, points - first);
      block.template fill<T>(s, p.grid, grid * points + first, count);
      load_row(grad + first, promoted, count);
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < 4; ++k) {
          if (block.pixel[k][i] >= 0) sums[block.pixel[k][i]] += block.weight[k][i] * promoted[i];
        }
      }
    }
  }
}

/// An item is a plane: 3 ns a point, where the other way takes 15 for any few channels.
template <class T>
mluOpStatus_t add_planes(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t pixels = s.h * s.w, own = std::is_same_v<T, A> ? 0 : pixels;
  const double samples = 4 * static_cast<double>(s.grids / s.batch * s.out_h * s.out_w);
  const Loop loop(context, call, s.batch * s.c, cost::kScatter * samples + cost::kMove * static_cast<double>(pixels));
  const auto scratch = allocate<SlotScratch<PlaneSums<A>>>(context.arena, loop.slots(), own);
  if (!scratch) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      T* const plane = static_cast<T*>(p.grad_input) + item * pixels;
      A* sums = scratch->of(slot, own).sums;
      if constexpr (std::is_same_v<T, A>) sums = plane;
      std::fill_n(sums, pixels, A{0});
      add_plane<T>(p, item / s.c, item % s.c, sums);
      if constexpr (!std::is_same_v<T, A>) store_row(sums, plane, pixels);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
Fit few_planes(const Context&, const mluopsCall&, const BackwardProblem& p) {
  const Shape& s = p.shape;
  return fit(s.h * s.w <= INT32_MAX && (s.c == 1 || p.layout == MLUOP_LAYOUT_NCHW), s.c <= 5);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  static constexpr Path<BackwardProblem> kPaths[] = {{"planes", few_planes<T>, add_planes<T>},
                                                     {"owner", always<BackwardProblem>, add_grids<T>}};
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_crop_backward, roi_crop, backward, mluopsRoiCropBackwardProblem, with_element)
