// BorderAlign backward: the gradient of each channel of each border goes to the four pixels of the point argmax names.
// grad_output, argmax [n,k,4,c], boxes [n,k,4], grad_input [n,h,w,4*c]; in NCHW [n,c,k,4] and [n,4*c,h,w]. Eight flops
// per value read: bound by memory.
//
// A line of pixels of one border has one owner, who sums it in the caches and writes it once: no prior zeroing, no
// atomics, bitwise equal for every number of threads. In NHWC a thread owns a run of lines. In NCHW a task owns a block
// of channels of an image: their planes become rows of a block's channels in scratch, on which the owner of lines works
// as in NHWC; the block of the map that it writes becomes planes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/border_align/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/kernels/border_align/owner-inl.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/border_align.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsBorderAlignBackwardProblem;

template <class T>
struct BackwardArrays {
  using A = Acc<T>;

  std::int64_t sum_count;  ///< of a thread
  SortedBorders<A> sorted;
  A* sums;

  /// Channels that a thread sums.
  BackwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, std::int64_t channels)
      : sum_count(summed_channels<A>(s, channels) * sums_pitch(std::max(s.h, s.w))),
        sorted(allocator, call, s, Lines(s, s.k)),
        sums(allocator.allocate<A>(call.threads, sum_count)) {}
};

/// A thread's block of channels of an image in NCHW, as NHWC tensors.
template <class T>
struct BlockScratch {
  T* grad_output;
  std::int32_t* argmax;  ///< [k, 4, channels], both
  T* grad_input;         ///< [h, w, 4, channels]

  BlockScratch(Allocator& allocator, const Shape& s, std::int64_t channels)
      : grad_output(allocator.allocate<T>(s.k, 4, channels)),
        argmax(allocator.allocate<std::int32_t>(s.k, 4, channels)),
        grad_input(allocator.allocate<T>(s.h, s.w, 4, channels)) {}
};

template <class T>
struct BlockArrays {
  BackwardArrays<T> owner;
  SlotScratch<BlockScratch<T>> scratch;

  BlockArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, std::int64_t channels)
      : owner(allocator, call, s, channels), scratch(allocator, call.threads, s, channels) {}
};

template <class T>
bool sort(Context& context, const mluopsCall& call, const BackwardProblem& p, SortedBorders<Acc<T>>& sorted) {
  const double channels = static_cast<double>(p.shape.c), each = static_cast<double>(sorted.lines().each());
  return sorted.fill(context, call, p.shape, static_cast<const T*>(p.boxes), false, cost::kScatter * channels,
                     cost::kElement * channels * each);
}

template <class T>
bool gradient_leaves_caches(const Shape& s) {
  return s.n * s.h * s.w * 4 * s.c * static_cast<std::int64_t>(sizeof(T)) > second_cache(8);
}

template <class T>
mluOpStatus_t by_owner(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  auto arrays = allocate<BackwardArrays<T>>(context.arena, call, s, s.c);
  if (!arrays || !sort<T>(context, call, p, arrays->sorted)) return no_memory(call);
  const bool lines = whole_lines(p.grad_input, s.c * static_cast<std::int64_t>(sizeof(T)));
  const GradRows<T> rows = {static_cast<const T*>(p.grad_output), p.argmax, s.c};
  const GradMap<T> map = {static_cast<T*>(p.grad_input), 0, s.c, lines && gradient_leaves_caches<T>(s)};
  const LineRuns runs(arrays->sorted.prefix_ns(), call.threads);
  Loop(context, call, runs.count(), runs.each_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    LineOwner<T>(s, arrays->sorted, rows, map, arrays->sums + slot * arrays->sum_count)
        .run(runs.first_line(begin), runs.first_line(end));
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

// ---- NCHW ------------------------------------------------------------------------------------

/// Planes of `rows` elements become rows of a block of `width` channels; channels it lacks are 0.
template <class M>
void take_planes(const M* planes, std::int64_t rows, std::int64_t channels, M* to, std::int64_t width) {
  if (channels < width) std::fill_n(to, rows * width, M{0});
  for (std::int64_t c = 0; c < channels; c += 16) {
    transpose_panel(planes + c * rows, rows, std::min<std::int64_t>(16, channels - c), rows, to + c, width);
  }
}

/// Channels from `first` on of an image.
template <class T>
void own_block(const BackwardProblem& p, std::int64_t image, std::int64_t first, std::int64_t width,
               const BackwardArrays<T>& arrays, Acc<T>* sums, const BlockScratch<T>& scratch) {
  using E = Moved<T>;
  using I = Moved<std::int32_t>;
  const Shape& s = p.shape;
  const std::int64_t rows = s.k * 4, channels = std::min(width, s.c - first), at = (image * s.c + first) * rows;
  take_planes(static_cast<const E*>(p.grad_output) + at, rows, channels, reinterpret_cast<E*>(scratch.grad_output),
              width);
  take_planes(reinterpret_cast<const I*>(p.argmax) + at, rows, channels, reinterpret_cast<I*>(scratch.argmax), width);
  const std::int64_t lines = arrays.sorted.lines().of_chunk(), pixels = s.h * s.w;
  const auto grads = GradRows<T>{scratch.grad_output, scratch.argmax, width}.from(-image * rows * width);
  LineOwner<T>(s, arrays.sorted, grads, GradMap<T>{scratch.grad_input, image, width, false}, sums)
      .run(image * lines, (image + 1) * lines);
  for (std::int64_t border = 0; border < 4; ++border) {
    E* const planes = static_cast<E*>(p.grad_input) + ((image * 4 + border) * s.c + first) * pixels;
    layout::HWY_NAMESPACE::rows_to_planes(gradient_leaves_caches<T>(s),
                                          reinterpret_cast<const E*>(scratch.grad_input) + border * width, 4 * width,
                                          pixels, channels, planes, pixels);
  }
}

/// Channels of a block: more are prefetched together, where all of it stays in the second cache.
template <class T>
std::int64_t block_width(const Shape& s, int threads) {
  const std::int64_t channel =
      s.k * 4 * static_cast<std::int64_t>(sizeof(T) + 4) + s.h * s.w * 4 * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t width = 64; width > kBlock; width /= 2) {
    if (s.c % width == 0 && s.n * (s.c / width) >= 2 * threads && width * channel <= second_cache(48)) return width;
  }
  return kBlock;
}

template <class T>
mluOpStatus_t by_blocks(Context& context, const mluopsCall& given, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t width = block_width<T>(s, given.threads), blocks = ceil_div(s.c, width), items = s.n * blocks;
  const mluopsCall call = with_threads(given, items);
  auto arrays = allocate<BlockArrays<T>>(context.arena, call, s, width);
  if (!arrays || !sort<T>(context, call, p, arrays->owner.sorted)) return no_memory(call);
  const double item_ns = arrays->owner.sorted.prefix_ns().back() / static_cast<double>(items);
  Loop(context, call, items, item_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const BlockScratch<T> own = arrays->scratch.of(slot, s, width);
    for (std::int64_t i = begin; i < end; ++i) {
      own_block(p, i / blocks, i % blocks * width, width, arrays->owner,
                arrays->owner.sums + slot * arrays->owner.sum_count, own);
    }
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
      {"panels", always<BackwardProblem>, by_blocks<T>},
  };
  return run_scatter_path(context, call, p, p.layout == MLUOP_LAYOUT_NCHW ? kNchwPaths : kPaths);
}

}  // namespace
}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(border_align_backward, border_align, backward, mluopsBorderAlignBackwardProblem, with_element)
