// BorderAlign backward: the gradient of each channel of each border goes to the four pixels of the point argmax names.
// grad_output, argmax [n,k,4,c], boxes [n,k,4], grad_input [n,h,w,4*c]; in NCHW [n,c,k,4] and [n,4*c,h,w]. Eight flops
// per value read: bound by memory.
//
// A line of pixels of one border has one owner, who sums it in the caches and writes it once: no prior zeroing, no
// atomics, the same bits for every number of threads. A thread owns a run of lines.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/border_align/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/kernels/border_align/owner-inl.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/simd-inl.h"

#ifndef MLUOPS_CPU_BORDER_ALIGN_BACKWARD_ONCE_
#define MLUOPS_CPU_BORDER_ALIGN_BACKWARD_ONCE_
namespace mluops::cpu::border_align {

using BackwardProblem = mluopsBorderAlignBackwardProblem;

template <class T>
struct BackwardArrays {
  using A = Acc<T>;

  std::int64_t sum_count;  ///< of a thread
  SortedBorders<A> sorted;
  A* sums;

  BackwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s)
      : sum_count(summed_channels<A>(s) * sums_pitch(std::max(s.h, s.w))),
        sorted(allocator, call, s),
        sums(allocator.allocate<A>(call.threads, sum_count)) {}
};

}  // namespace mluops::cpu::border_align
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class T>
mluOpStatus_t by_owner(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  auto arrays = allocate<BackwardArrays<T>>(context.arena, call, s);
  const double channels = static_cast<double>(s.c),
               line_ns = cost::kElement * channels * static_cast<double>(std::max(s.h, s.w));
  if (!arrays || !arrays->sorted.fill(context, call, s, static_cast<const T*>(p.boxes), false,
                                      cost::kScatter * channels, line_ns)) {
    return no_memory(call);
  }
  const auto pixel_bytes = 4 * s.c * static_cast<std::int64_t>(sizeof(T));
  const bool leaves_caches = s.n * s.h * s.w * pixel_bytes > second_cache(8);
  const bool non_temporal = leaves_caches && whole_lines(p.grad_input, pixel_bytes / 4);
  const LineRuns runs(arrays->sorted.prefix_ns(), call.threads);
  Loop(context, call, runs.count(), runs.each_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    LineOwner<T>(p, arrays->sorted, non_temporal, arrays->sums + slot * arrays->sum_count)
        .run(runs.first_line(begin), runs.first_line(end));
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

// ---- atomic ----------------------------------------------------------------------------------

/// grad_input of one border, channel by channel, added atomically to sums of the whole map.
template <class T>
void add_border_atomically(const BackwardProblem& p, std::int64_t row, Acc<T>* sums) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const bool planes = p.layout == MLUOP_LAYOUT_NCHW;
  const layout::Elements map{s.h * s.w, 4 * s.c, planes}, rows{4 * s.k, s.c, planes};
  const std::int64_t image = row / (4 * s.k), of_image = row % (4 * s.k) * rows.pixel(), border = row % 4;
  const auto placed = PlacedBorder<A>::of(s, static_cast<const T*>(p.boxes), row);
  const BorderAxes axes(s, border, map.pixel());
  for (std::int64_t c = 0; c < s.c; ++c) {
    const std::int64_t at = rows.at(image, c) + of_image;
    const A gradient = to_acc(static_cast<const T*>(p.grad_output)[at]);
    A* const line = sums + map.at(image, border * s.c + c) + placed.line * axes.line_pitch;
    placed.for_each_pixel(s, p.argmax[at], axes.length, [&](int next, std::int64_t pixel, A weight) {
      if (placed.line + next == axes.lines) return;
      atomic_add(line + next * axes.line_pitch + pixel * axes.pixel_pitch, weight * gradient);
    });
  }
}

/// Tasks over borders of boxes.
template <class T>
mluOpStatus_t by_atomics(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t total = s.n * s.h * s.w * 4 * s.c;
  T* const gradient = static_cast<T*>(p.grad_input);
  Acc<T>* const sums = reserve_sums(context, gradient, total);
  if (sums == nullptr) return no_memory(call);
  clear_sums(context, call, sums, total);
  Loop(context, call, borders_of(s), 3 * cost::kAtomicAdd * static_cast<double>(s.c))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t row = begin; row < end; ++row) add_border_atomically<T>(p, row, sums);
      });
  store_sums(context, call, sums, gradient, total);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  static constexpr Path<BackwardProblem> kPaths[] = {
      {kAtomicPath, atomic_applies<BackwardProblem>, by_atomics<T>},
      {"owner", always<BackwardProblem>, by_owner<T>},
  };
  static constexpr Path<BackwardProblem> kNchwPaths[] = {
      {kAtomicPath, atomic_applies<BackwardProblem>, by_atomics<T>},
      layout::kTransposed<operators::border_align_backward, BackwardProblem>,
  };
  return run_scatter_path(context, call, p, p.layout == MLUOP_LAYOUT_NCHW ? kNchwPaths : kPaths);
}

MLUOPS_CPU_KERNEL(backward, mluopsBorderAlignBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
MLUOPS_CPU_ENTRY(border_align_backward, border_align, backward, mluopsBorderAlignBackwardProblem)
#endif
