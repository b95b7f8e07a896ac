// ThreeInterpolate backward: the gradient of every output point goes to three feature points, weighted.
// grad_output [b,c,n], indices and weights [b,n,3], grad_features [b,c,m]. Six flops per value read: bound by memory.
// A block of channels of one image has one owner, who adds the points in order: no atomics, the same bits every time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/three_interpolate/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/three_interpolate/avx512/transpose_tiles-inl.h"
#include "backends/cpu/kernels/three_interpolate/rows-inl.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// One point's three additions. sums is channel c of row 0.
template <class D, class A>
HWY_INLINE void scatter_point(D d, hn::Vec<D> grad, const std::uint32_t* HWY_RESTRICT rows,
                              const A* HWY_RESTRICT weights, A* HWY_RESTRICT sums) {
  HWY_UNROLL(3)
  for (int j = 0; j < 3; ++j) {
    A* const sum = sums + rows[j];
    hn::Store(hn::MulAdd(hn::Set(d, weights[j]), grad, hn::Load(d, sum)), d, sum);
  }
}

#if HWY_TARGET <= HWY_AVX3
/// Adds the first round(points, 16) points, at least 16, of 16 channels into sums[point, 16]: a tile of gradients is
/// transposed between the additions of the one before. Returns how many. Meanwhile the gradients of the next block are
/// prefetched, in the order of memory, which it likes best, for the second cache: rows are often a multiple of 4 KB
/// apart and displace each other in the first.
template <class T>
HWY_NOINLINE std::int64_t scatter_tiles(Rows<const T> in, const std::uint32_t* HWY_RESTRICT rows,
                                        const float* HWY_RESTRICT weights, std::int64_t points,
                                        float* HWY_RESTRICT sums) {
  using Tile = TransposeTile<T>;
  constexpr std::int64_t lanes = kLanes<float>;
  const FullTag<T> d;
  const char* ahead = reinterpret_cast<const char*>(in.first + lanes * in.pitch);
  typename Tile::V tile[Tile::kVectors], next[Tile::kVectors];
  hn::Vec<FullTag<T>> v[4];
  HWY_UNROLL(4)
  for (int part = 0; part < kParts; ++part) Tile::load(in.first, in.pitch, part, tile);
  const auto add = [&](int first) HWY_ATTR {
    order_barrier(ahead);
    HWY_UNROLL(2)
    for (int k = first; k < first + 2; ++k, rows += 3, weights += 3, ahead += lanes * sizeof(T)) {
      __builtin_prefetch(ahead, 0, 2);
      scatter_point(d, v[k], rows, weights, sums);
    }
  };
  std::int64_t i = lanes;
  for (; i + lanes <= points; i += lanes) {
    const std::int64_t pitch = value_barrier(in.pitch);
    HWY_UNROLL(4)
    for (int part = 0; part < kParts; ++part) {
      Tile::points(part, tile, v);
      add(0);
      Tile::load(in.first + i, pitch, part, next);
      add(2);
    }
    HWY_UNROLL(16)
    for (int k = 0; k < Tile::kVectors; ++k) tile[k] = next[k];
  }
  HWY_UNROLL(4)
  for (int part = 0; part < kParts; ++part) {
    Tile::points(part, tile, v);
    add(0);
    add(2);
  }
  return i;
}
#endif

/// Adds `points` points of one block of channels into sums[point, kBlock], in order of the points.
template <class T>
void scatter_block(const Rows<const T>& from, const std::uint32_t* HWY_RESTRICT near_rows,
                   const Acc<T>* HWY_RESTRICT near_weights, std::int64_t points, Acc<T>* HWY_RESTRICT sums) {
  using A = Acc<T>;
  const FullTag<T> d;
  constexpr int lanes = kLanes<A>;
  const Rows<const T> grad_output = from;
  const std::int64_t used = std::min(grad_output.channels, kBlock<A>);
  const std::uint32_t* rows = near_rows;
  const A* weights = near_weights;
  hn::Vec<FullTag<T>> v[lanes];
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<A, float>) {
    if (used == lanes && points >= lanes) i = scatter_tiles(grad_output, rows, weights, points, sums);
    rows += 3 * i, weights += 3 * i;
  }
#endif
  for (; i + lanes <= points; i += lanes, rows += 3 * lanes, weights += 3 * lanes) {
    prefetch_bytes<2>(grad_output.first + kBlock<A> * (grad_output.pitch + i), kBlock<A> * lanes * sizeof(T));
    for (std::int64_t c = 0; c < used; c += lanes) {
      load_transposed(grad_output, c, i, v);
      HWY_UNROLL(16)
      for (int k = 0; k < lanes; ++k) scatter_point(d, v[k], rows + 3 * k, weights + 3 * k, sums + c);
    }
  }
  for (std::int64_t c = 0; c < used && i < points; c += lanes) {
    load_transposed_tail(grad_output, c, i, points - i, v);
    for (int k = 0; k < points - i; ++k) scatter_point(d, v[k], rows + 3 * k, weights + 3 * k, sums + c);
  }
}

/// Sums of a block to grad_features, and zeros for the next.
template <class T>
HWY_INLINE void put_and_clear(Acc<T>* sums, std::int64_t m, bool non_temporal, const Rows<T>& to) {
  if (non_temporal) return transpose_out_non_temporal(sums, m, to);
  transpose_out(sums, m, to);
  std::fill_n(sums, m * kBlock<Acc<T>>, Acc<T>{0});
}

/// Working memory of backward_by_rows: neighbours of an image and a row of sums, M for neighbours out of range, per
/// slot.
template <class T>
struct RowArrays {
  std::int64_t points;
  std::uint32_t* rows;
  Acc<T>* weights;
  Acc<T>* sums;

  RowArrays(Allocator& allocator, const Shape& s, std::int64_t slots)
      : points(s.n),
        rows(allocator.allocate<std::uint32_t>(slots, 3, s.n)),
        weights(allocator.allocate<Acc<T>>(slots, 3, s.n)),
        sums(allocator.allocate<Acc<T>>(slots, (s.m + 1))) {}

  Neighbours<Acc<T>> near(std::int64_t slot) const { return {rows + slot * 3 * points, weights + slot * 3 * points}; }
};

/// grad_features of every block of channels has one owner. Where there are fewer blocks than threads could use, the
/// points are cut into parts, as many as the shape says, whose sums are added in order afterwards.
template <class T>
mluOpStatus_t backward_by_owner(Context& context, const mluopsCall& call,
                                const mluopsThreeInterpolateBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const WorkPartition<A> partition(s, 32, 8 * call.threads);
  const double item_ns = static_cast<double>(partition.group * kBlock<A>) *
                         (static_cast<double>(partition.points) * 2 + static_cast<double>(s.m)) * cost::kInterpolate;
  const Loop loop(context, call, partition.items(s), item_ns);
  const std::int64_t slots = loop.slots(), block_count = partition.parts == 1 ? slots : partition.items(s);
  const auto arrays = allocate<Arrays<A>>(context.arena, s, partition.points, slots, block_count);
  if (!arrays) return no_memory(call);

  const bool non_temporal = may_store_non_temporal<T>(s.b * s.c, s.m, p.grad_features);
  const auto put = [&](A* sums, const Rows<T>& to) HWY_ATTR { put_and_clear(sums, s.m, non_temporal, to); };
  const auto gradient = [&](std::int64_t b, std::int64_t c) {
    return Rows<T>{static_cast<T*>(p.grad_features) + (b * s.c + c) * s.m, s.m, std::min(s.c - c, kBlock<A>)};
  };
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    NeighboursOfRun<T, kBlock<A>> run(s, p.indices, p.weights, arrays->near(slot));
    for (std::int64_t i = begin; i < end; ++i) {
      const Item item(partition, s, i);
      const Neighbours<A>& near = run.move_to(item.b, item.first, item.last);
      A* const sums = arrays->block(partition.parts == 1 ? slot : i);
      if (partition.parts > 1 || i == begin) std::fill_n(sums, arrays->block_size, A{0});
      for (std::int64_t c = item.first_block * kBlock<A>; c < std::min(s.c, item.last_block * kBlock<A>);
           c += kBlock<A>) {
        run.prefetch_next(c / kBlock<A> - item.first_block, item.last_block - item.first_block);
        const Rows<const T> in{static_cast<const T*>(p.grad_output) + (item.b * s.c + c) * s.n + item.first, s.n,
                               std::min(s.c - c, kBlock<A>)};
        scatter_block(in, near.rows, near.weights, item.last - item.first, sums);
        if (partition.parts == 1) put(sums, gradient(item.b, c));
      }
    }
    if (non_temporal) non_temporal_fence();
  });
  if (partition.parts == 1) return MLUOP_STATUS_SUCCESS;
  const std::int64_t size = arrays->block_size;
  const Loop merge(context, call, s.b * partition.blocks,
                   static_cast<double>(size * partition.parts) * cost::kWriteSum);
  merge.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t which = begin; which < end; ++which) {
      A* const sums = arrays->block(which * partition.parts);
      for (std::int64_t part = 1; part < partition.parts; ++part) axpy<A>(1, sums + part * size, sums, size);
      put(sums, gradient(which / partition.blocks, which % partition.blocks * kBlock<A>));
    }
    if (non_temporal) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

/// For very few channels: point by point into one row of sums. What the next row reads and writes is prefetched
/// meanwhile.
template <class T>
mluOpStatus_t backward_by_rows(Context& context, const mluopsCall& call,
                               const mluopsThreeInterpolateBackwardProblem& p) {
  using A = Acc<T>;
  const hn::CappedTag<A, 1> d1;
  const Shape& s = p.shape;
  constexpr std::int64_t kStep = 16;
  const double row_ns = 3 * static_cast<double>(s.n) * cost::kScatter + static_cast<double>(s.m) * cost::kWriteSum;
  const Loop loop(context, call, s.b, row_ns * static_cast<double>(s.c));
  const bool few = s.m * static_cast<std::int64_t>(sizeof(T)) <= 64 * s.n;  // lines of a row, beside its points
  const std::int64_t slots = loop.slots();
  const auto rows = allocate<RowArrays<T>>(context.arena, s, slots);
  if (!rows) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    NeighboursOfRun<T, 1> run(s, p.indices, p.weights, rows->near(slot));
    for (std::int64_t row = begin * s.c; row < end * s.c; ++row) {
      const Neighbours<A>& near = run.move_to(row / s.c, 0, s.n);
      const T* const grad = static_cast<const T*>(p.grad_output) + row * s.n;
      T* const out = static_cast<T*>(p.grad_features) + row * s.m;
      A* const sums = rows->sums + slot * (s.m + 1);
      std::fill_n(sums, s.m, A{0});
      const std::int64_t steps = ceil_div(s.n, kStep), share = ceil_div(3 * s.n, s.c);
      const std::int64_t next = 3 * (row / s.c + 1) * s.n + row % s.c * share;
      PrefetchStream streams[] = {{grad + s.n, s.n, steps},
                                  {out + s.m, few ? s.m : 0, steps},
                                  {p.indices + next, share, steps},
                                  {static_cast<const T*>(p.weights) + next, share, steps}};
      for (std::int64_t first = 0; first < s.n; first += kStep) {
        for (PrefetchStream& stream : streams) stream.step();
        for (std::int64_t i = first; i < std::min(s.n, first + kStep); ++i) {
          const auto g = load(d1, grad + i);
          for (std::int64_t k = 3 * i; k < 3 * i + 3; ++k) {
            A* const sum = sums + near.rows[k];
            hn::Store(hn::MulAdd(hn::Set(d1, near.weights[k]), g, hn::Load(d1, sum)), d1, sum);
          }
        }
      }
      store_row(sums, out, s.m);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Tasks over runs of points of one row; every task adds into the whole row of M sums.
template <class T>
mluOpStatus_t backward_by_atomics(Context& context, const mluopsCall& call,
                                  const mluopsThreeInterpolateBackwardProblem& p) {
  using A = Acc<T>;
  constexpr std::int64_t at_once = kPointsAtOnce;
  const Shape& s = p.shape;
  const std::int64_t total = s.b * s.c * s.m, runs = ceil_div(s.n, at_once);
  T* const gradient = static_cast<T*>(p.grad_features);
  A* const sums = reserve_sums(context, gradient, total);
  if (sums == nullptr) return no_memory(call);
  clear_sums(context, call, sums, total);
  const Loop loop(context, call, s.b * runs, static_cast<double>(std::min(s.n, at_once) * s.c) * cost::kAtomicAdd);
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    std::uint32_t rows[3 * at_once];
    A weights[3 * at_once];
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, n = item % runs * at_once, points = std::min(at_once, s.n - n);
      const std::int64_t near = 3 * (b * s.n + n);
      check_neighbours<1>(s.m, p.indices + near, static_cast<const T*>(p.weights) + near, 3 * points, rows, weights);
      for (std::int64_t c = b * s.c; c < (b + 1) * s.c; ++c) {
        const T* const grad = static_cast<const T*>(p.grad_output) + c * s.n + n;
        for (std::int64_t i = 0; i < 3 * points; ++i) {
          if (rows[i] < s.m) atomic_add(sums + c * s.m + rows[i], weights[i] * promote(grad + i / 3));
        }
      }
    }
  });
  store_sums(context, call, sums, gradient, total);
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
      {kAtomicPath, atomic_applies<Problem>, backward_by_atomics<T>},
      {"blocks", blocks_apply<T>, backward_by_owner<T>},
      {"rows", always<Problem>, backward_by_rows<T>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(backward, mluopsThreeInterpolateBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(three_interpolate_backward, three_interpolate, backward, mluopsThreeInterpolateBackwardProblem)

}  // namespace mluops::cpu
#endif
