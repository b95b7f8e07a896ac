// BorderAlign backward: the gradient of each channel of each border goes to the four pixels of the point argmax names.
// grad_output, argmax [n,k,4,c], boxes [n,k,4], grad_input [n,h,w,4*c]. Eight flops per value read: bound by memory.
// A line of pixels of one border has one owner, who sums it in the caches and writes it once: no prior zeroing, no
// atomics, the same bits for every number of threads. A border adds to the two lines it lies between. Both are summed
// in one pass, as pairs: [channel, pixel, this line and the next]. The two pixels of a point are neighbours in there,
// so all that an element of grad_output adds is one run of four sums: one load, one multiply-add, one store. Where a
// run begins and what it gets is computed for kBlock channels at once. The sums of these stay in the first cache while
// all borders of a line go by; then the line is complete there and leaves. The second half of the pairs is what the
// next line starts with. With AVX-512, sums of lines of ten pixels or fewer stay in registers instead, and where the
// few points of a border lie is computed once for all its channels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/border_align/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/border_align/owner-inl.h"
#include "backends/cpu/kernels/border_align/owner_planes-inl.h"
#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {
/// Puts each border on the first of the two lines it lies between.
template <class T>
bool sort_by_lines(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p,
                   Buckets& sorted) {
  const Shape& s = p.shape;
  const Lines lines(s);
  const double channels = static_cast<double>(s.c);
  const double cost = cost::kScatter * channels;
  const double line_cost = cost::kWriteSum * channels * static_cast<double>(lines.each);
  return sorted.fill(context, call, cost::kFindLine, line_cost, [&](std::int64_t begin, std::int64_t end, auto&& put) {
    sort_borders<T>(s, p.boxes, begin, end, [&](std::int64_t row, std::int64_t line, bool inside) {
      if (inside) put(row, line, cost);
    });
  });
}

template <class T>
mluOpStatus_t backward_by_owner(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p) {
  const Shape& s = p.shape;
  auto arrays = allocate<BackwardArrays<Acc<T>>>(context.arena, call, s);
  if (!arrays) return no_memory(call);
  if (!sort_by_lines<T>(context, call, p, arrays->lines)) return no_memory(call);
  const auto row_bytes = s.c * static_cast<std::int64_t>(sizeof(T));
  const bool non_temporal = whole_lines(p.grad_input, row_bytes) &&
                            s.n * s.h * s.w * 4 * row_bytes > non_temporal_from::border_align_backward();
  const Runs runs(s, call, arrays->lines.prefix_ns());
  const double run_ns = arrays->lines.prefix_ns().back() / static_cast<double>(runs.count());
  Loop(context, call, runs.count(), run_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    LineAccumulator<T>(p, *arrays, slot, non_temporal).run(runs.begin(begin), runs.begin(end));
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward_of_planes(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p) {
  context.last_scatter = "owner";
  return own_planes<T>(context, call, p, [&](const mluopsCall& used, Buckets& lines) {
    return sort_by_lines<T>(context, used, p, lines);
  });
}

/// The transposed form leaves the choice of a strategy to NHWC.
template <class Problem>
Fit owner_planes_apply(const Context& context, const mluopsCall& call, const Problem&) {
  return fit(true, !wants_atomics(context, call));
}

/// grad_input of one border, channel by channel, added atomically to sums of the whole map.
template <class T>
void add_border_atomically(const mluopsBorderAlignBackwardProblem& p, std::int64_t row, Acc<T>* sums) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const auto border = read_border<T>(s, p.boxes, row);
  const BorderAxes axes(s, border.horizontal);
  const Place place(s, row);
  A* const map = sums + place.image * s.h * s.w * 4 * s.c + place.border * s.c;
  AxisSample<A> line, along;
  if (!sample_axis(border.fixed, axes.lines, line)) return;
  for (std::int64_t c = 0; c < s.c; ++c) {
    const std::int32_t point = p.argmax[row * s.c + c];
    if (point < 0 || point > s.pool_size) continue;
    if (!sample_axis(border.start + border.stride * static_cast<A>(point), axes.length, along)) continue;
    const auto corners = BorderPoint<A>::between(border.horizontal, axes.line_pitch, axes.pixel_pitch, line, along);
    const A g = to_acc(static_cast<const T*>(p.grad_output)[row * s.c + c]);
    for (int i = 0; i < 4; ++i) {
      if (!corners.repeats(i)) atomic_add(map + corners.pixel[i] + c, corners.weight[i] * g);
    }
  }
}

/// Tasks over borders of boxes.
template <class T>
mluOpStatus_t backward_by_atomics(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t total = s.n * s.h * s.w * 4 * s.c;
  T* const gradient = static_cast<T*>(p.grad_input);
  A* const sums = reserve_sums(context, gradient, total);
  if (sums == nullptr) return no_memory(call);
  clear_sums(context, call, sums, total);
  Loop(context, call, s.n * s.k * 4, 3 * cost::kAtomicAdd * static_cast<double>(s.c))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t row = begin; row < end; ++row) add_border_atomically<T>(p, row, sums);
      });
  store_sums(context, call, sums, gradient, total);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p) {
  using Problem = mluopsBorderAlignBackwardProblem;
  static constexpr Path<Problem> kPaths[] = {
      {kAtomicPath, atomic_applies<Problem>, backward_by_atomics<T>},
      {"owner", always<Problem>, backward_by_owner<T>},
  };
  static constexpr Path<Problem> kNchwPaths[] = {
#if HWY_TARGET != HWY_SCALAR
    {"nchw_planes", owner_planes_apply<Problem>, backward_of_planes<T>},
#endif
    layout::kTransposed<operators::border_align_backward, Problem>,
  };
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return run_scatter_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(backward, mluopsBorderAlignBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(border_align_backward, border_align, backward, mluopsBorderAlignBackwardProblem)

}  // namespace mluops::cpu
#endif
