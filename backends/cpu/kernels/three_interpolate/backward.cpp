// ThreeInterpolate backward: the gradient of every output point goes to three feature points, weighted.
// grad_output [b,c,n], indices and weights [b,n,3], grad_features [b,c,m]. Six flops per value read: bound by memory.
// A block of channels of one image has one owner, who adds the points in order: no atomics, bitwise equal every time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/three_interpolate/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/three_interpolate/neighbours-inl.h"
#include "backends/cpu/kernels/three_interpolate/scatter_tiles-inl.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"
#include "mluops/problem/three_interpolate.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Loads points [i, i + lanes) of channels [c, c + lanes), zero beyond the block, and transposes them: v[k] is point i
/// + k.
template <class T>
HWY_INLINE void load_transposed(const Rows<const T>& rows, std::int64_t c, std::int64_t i, hn::Vec<FullTag<T>>* v) {
  const FullTag<T> d;
  constexpr int lanes = kLanes<Acc<T>>;
  const T* row = rows.first + c * rows.pitch + i;
  for (int k = 0; k < lanes; ++k, row += rows.pitch) v[k] = c + k < rows.channels ? load(d, row) : hn::Zero(d);
  transpose_square<Acc<T>>(v);
}

/// Adds `points` points of one block of channels into sums[point, kBlock], in order of the points.
template <class T>
void scatter_block(const Rows<const T>& from, const Neighbours<Acc<T>>& near, std::int64_t points,
                   Acc<T>* HWY_RESTRICT sums) {
  using A = Acc<T>;
  const FullTag<T> d;
  constexpr int lanes = kLanes<A>;
  const Rows<const T> in = from;
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<A, float>) {
    if (in.channels == lanes && points >= lanes) {
      i = scatter_tiles(in, near.rows, near.weights, points, sums);
    }
  }
#endif
  const std::uint32_t* HWY_RESTRICT rows = near.rows + 3 * i;
  const A* HWY_RESTRICT weights = near.weights + 3 * i;
  for (; i + lanes <= points; i += lanes, rows += 3 * lanes, weights += 3 * lanes) {
    prefetch_bytes<2>(in.first + kBlock<A> * (in.pitch + i), kBlock<A> * lanes * sizeof(T));
    for (std::int64_t c = 0; c < in.channels; c += lanes) {
      hn::Vec<FullTag<T>> v[lanes];
      load_transposed(in, c, i, v);
      HWY_UNROLL(16)
      for (int k = 0; k < lanes; ++k) scatter_point(d, v[k], rows + 3 * k, weights + 3 * k, sums + c);
    }
  }
  HWY_ALIGN A point[kBlock<A>] = {};
  for (; i < points; ++i, rows += 3, weights += 3) {
    for (std::int64_t c = 0; c < in.channels; ++c) point[c] = to_acc(in.first[c * in.pitch + i]);
    for (std::int64_t c = 0; c < kBlock<A>; c += lanes)
      scatter_point(d, hn::Load(d, point + c), rows, weights, sums + c);
  }
}

/// grad_features of every block of channels has one owner. Where there are fewer blocks than threads could use, the
/// points are cut into parts, as many as the shape says, whose sums are added in order afterwards.
template <class T>
mluOpStatus_t backward_by_owner(Context& context, const mluopsCall& call,
                                const mluopsThreeInterpolateBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const WorkPartition<A> partition(s, 32, 8 * call.threads);
  const double item_ns = static_cast<double>(partition.group * kBlock<A>) *
                         (static_cast<double>(partition.points) * 2 + static_cast<double>(s.m)) * cost::kElement;
  const Loop loop(context, call, partition.items(s), item_ns);
  const std::int64_t slots = loop.slots(), block_count = partition.parts == 1 ? slots : partition.items(s);
  const auto arrays = allocate<Arrays<A>>(context.arena, s, partition.points, slots, block_count);
  if (!arrays) return no_memory(call);

  const bool non_temporal = may_store_non_temporal<T>(s.b * s.c, s.m, p.grad_features);
  const auto put = [&](A* sums, std::int64_t b, std::int64_t c) HWY_ATTR {
    T* const gradient = static_cast<T*>(p.grad_features) + (b * s.c + c) * s.m;
    layout::HWY_NAMESPACE::drain_panel(s.m, sums, std::min(s.c - c, kBlock<A>), gradient, non_temporal);
  };
  // A share of the next run's neighbours with each block: the core drops requests when many are under way.
  const auto prefetch_next = [&](std::int64_t neighbour, std::int64_t share) HWY_ATTR {
    PrefetchStream(p.indices + neighbour, 3 * partition.points, partition.group).step(share);
    PrefetchStream(static_cast<const T*>(p.weights) + neighbour, 3 * partition.points, partition.group).step(share);
  };
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    NeighboursOfRun<T> run(s, p.indices, p.weights, arrays->near(slot));
    for (std::int64_t i = begin; i < end; ++i) {
      const Item item(partition, s, i);
      const Neighbours<A>& near = run.move_to(item.b, item.first, item.last);
      A* const sums = arrays->block(partition.parts == 1 ? slot : i);
      if (partition.parts > 1 || i == begin) std::fill_n(sums, arrays->block_size, A{0});
      for (std::int64_t c = item.first_block * kBlock<A>; c < std::min(s.c, item.last_block * kBlock<A>);
           c += kBlock<A>) {
        const Rows<const T> in{static_cast<const T*>(p.grad_output) + (item.b * s.c + c) * s.n + item.first, s.n,
                               std::min(s.c - c, kBlock<A>)};
        prefetch_next(3 * (item.b * s.n + item.last), c / kBlock<A> - item.first_block);
        scatter_block(in, near, item.last - item.first, sums);
        if (partition.parts == 1) put(sums, item.b, c);
      }
    }
    if (non_temporal) non_temporal_fence();
  });
  if (partition.parts == 1) return MLUOP_STATUS_SUCCESS;
  const std::int64_t size = arrays->block_size;
  const Loop merge(context, call, s.b * partition.blocks, static_cast<double>(size * partition.parts) * cost::kElement);
  merge.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t which = begin; which < end; ++which) {
      A* const sums = arrays->block(which * partition.parts);
      for (std::int64_t part = 1; part < partition.parts; ++part) axpy<A>(1, sums + part * size, sums, size);
      put(sums, which / partition.blocks, which % partition.blocks * kBlock<A>);
    }
    if (non_temporal) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Adds points [n, n + points) of all channels of an image, kPointsAtOnce at most.
template <bool kAtomic, class T, class A = Acc<T>>
void scatter_points(const mluopsThreeInterpolateBackwardProblem& p, std::int64_t b, std::int64_t n, std::int64_t points,
                    A* sums) {
  const Shape& s = p.shape;
  std::uint32_t rows[3 * kPointsAtOnce];
  A weights[3 * kPointsAtOnce];
  const std::int64_t near = 3 * (b * s.n + n);
  check_neighbours<1>(s.m, p.indices + near, static_cast<const T*>(p.weights) + near, 3 * points, rows, weights);
  prefetch<2>(p.indices + near + 3 * points, 3 * points);
  prefetch<2>(static_cast<const T*>(p.weights) + near + 3 * points, 3 * points);
  for (std::int64_t c = 0; c < s.c; ++c, sums += s.m) {
    const T* const grad = static_cast<const T*>(p.grad_output) + (b * s.c + c) * s.n + n;
    for (std::int64_t i = 0; i < points; ++i) {
      const A gradient = promote(grad + i);
      for (std::int64_t k = 3 * i; k < 3 * i + 3; ++k) {
        if (rows[k] >= s.m) continue;
        if constexpr (kAtomic) {
          atomic_add(sums + rows[k], weights[k] * gradient);
        } else {
          sums[rows[k]] += weights[k] * gradient;
        }
      }
    }
  }
}

/// Point by point. With kAtomic, a task has a run of points and adds them to sums that all tasks share; without, for
/// very few channels, it owns an image.
template <bool kAtomic, class T>
mluOpStatus_t backward_by_points(Context& context, const mluopsCall& call,
                                 const mluopsThreeInterpolateBackwardProblem& p) {
  using A = Acc<T>;
  constexpr std::int64_t at_once = kPointsAtOnce;
  const Shape& s = p.shape;
  const std::int64_t image = s.c * s.m, runs = kAtomic ? ceil_div(s.n, at_once) : 1, run = kAtomic ? at_once : s.n;
  T* const gradient = static_cast<T*>(p.grad_features);
  const double added = static_cast<double>(std::min(s.n, run) * s.c);
  const double owned_ns = 3 * added * cost::kScatter + static_cast<double>(image) * cost::kElement;
  const Loop loop(context, call, s.b * runs, kAtomic ? added * cost::kAtomicAdd : owned_ns);
  constexpr bool kAllImages = kAtomic || kAddsInPlace<T>;  // have sums; else one for each task at a time
  A* const all = reserve_sums(context, gradient, size_product(kAllImages ? s.b : loop.slots(), image));
  if (all == nullptr) return no_memory(call);
  if (kAtomic) clear_sums(context, call, all, s.b * image);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, first = item % runs * run;
      A* const sums = all + (kAllImages ? b : slot) * image;
      if (!kAtomic) std::fill_n(sums, image, A{0});
      for (std::int64_t n = first; n < std::min(s.n, first + run); n += at_once) {
        scatter_points<kAtomic, T>(p, b, n, std::min(at_once, s.n - n), sums);
      }
      if (!kAllImages) store_row(sums, gradient + b * image, image);
    }
  });
  if (kAtomic) store_sums(context, call, all, gradient, s.b * image);
  return MLUOP_STATUS_SUCCESS;
}

/// Decided by the shape alone, whatever the number of threads: paths add in different orders.
template <class T>
Fit blocks_apply(const Context&, const mluopsCall&, const mluopsThreeInterpolateBackwardProblem& p) {
  const Shape& s = p.shape;
  const bool few = s.c <= kFewChannels && (s.b >= 8 || s.b * s.c * s.n <= 65536);
  return fit(can_transpose<Acc<T>>(s), !few);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsThreeInterpolateBackwardProblem& p) {
  using Problem = mluopsThreeInterpolateBackwardProblem;
  static constexpr Path<Problem> kPaths[] = {
      {kAtomicPath, atomic_applies<Problem>, backward_by_points<true, T>},
      {"blocks", blocks_apply<T>, backward_by_owner<T>},
      {"rows", always<Problem>, backward_by_points<false, T>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(three_interpolate_backward, three_interpolate, backward, mluopsThreeInterpolateBackwardProblem,
                 with_element)
