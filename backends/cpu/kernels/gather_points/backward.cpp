// GatherPoints and GroupPoints, backward: grad_points[b,c,idx[b,m]] += grad_output[b,c,m].
//
// grad_output [B,C,M], idx [B,M], grad_points [B,C,N].
// panels: an item is a block of channels of an image; it adds the channels of a m, transposed to a cache line, to a
// panel of sums [N, a cache line] and empties that into its rows. owner: an item is a row (b,c), or up to four that
// share a look at the indices, whose sums it makes alone. In both each sum is made in increasing m: bitwise equal for
// every number of threads. atomic: an item is a run of the indices of up to four rows, added to sums that items share.
// One addition for each element read: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gather_points/backward.cpp"
#include <hwy/foreach_target.h>

#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/gather_points/geometry.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "mluops/problem/gather_points.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::gather_points::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using Problem = mluopsGatherPointsBackwardProblem;

/// add(sum, value) for the elements of `count` indices of some rows; sums [rows,n], grad [rows,pitch].
template <class T, class Add>
HWY_INLINE void add_run(const Shape& s, const std::int32_t* idx, std::int64_t count, const T* grad, std::int64_t rows,
                        Acc<T>* sums, Add&& add) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = idx[i];
    if (at < 0 || at >= s.n) continue;
    for (std::int64_t r = 0; r < rows; ++r) add(sums + r * s.n + at, to_acc(grad[r * s.m + i]));
  }
}

/// add_run for all indices and kTogether rows, by the owner of their sums, two indices at a time: where both are the
/// same, as is common in balls of few points, the second addition takes the first sum from a register instead of
/// waiting until it is stored.
template <std::int64_t kTogether, class T>
HWY_INLINE void add_pairs(const Shape& s, const std::int32_t* idx, const T* grad, Acc<T>* sums) {
  const hn::CappedTag<Acc<T>, 1> d;
  const hn::RebindToSigned<decltype(d)> di;
  using Index = hn::TFromD<decltype(di)>;
  const auto add = [](Acc<T>* sum, Acc<T> value) { *sum += value; };
  std::int64_t i = 0;
  for (; i + 2 <= s.m; i += 2) {
    const std::int64_t at = idx[i], next = idx[i + 1];
    if (at < 0 || at >= s.n || next < 0 || next >= s.n) {
      add_run(s, idx + i, 2, grad + i, kTogether, sums, add);
      continue;
    }
    const auto is_same = hn::Eq(hn::Set(di, static_cast<Index>(at)), hn::Set(di, static_cast<Index>(next)));
    MLUOPS_UNROLL
    for (std::int64_t r = 0; r < kTogether; ++r) {
      Acc<T>*const first = sums + r * s.n + at, *const second = sums + r * s.n + next;
      const auto before = hn::LoadU(d, second);
      const auto sum = hn::Add(hn::LoadU(d, first), load(d, grad + r * s.m + i));
      hn::StoreU(sum, d, first);
      hn::StoreU(hn::Add(hn::IfThenElse(hn::RebindMask(d, is_same), sum, before), load(d, grad + r * s.m + i + 1)), d,
                 second);
    }
  }
  if (i < s.m) add_run(s, idx + i, 1, grad + i, kTogether, sums, add);
}

/// add_pairs for `rows` rows.
template <class T>
HWY_INLINE void add_rows(const Shape& s, const std::int32_t* idx, const T* grad, std::int64_t rows, Acc<T>* sums) {
  static_assert(kRows == 4);
  if (rows == 1) add_pairs<1>(s, idx, grad, sums);
  if (rows == 2) add_pairs<2>(s, idx, grad, sums);
  if (rows == 3) add_pairs<3>(s, idx, grad, sums);
  if (rows == 4) add_pairs<4>(s, idx, grad, sums);
}

template <class T>
mluOpStatus_t by_owner(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const double row_ns = cost::kScatter * static_cast<double>(s.m) + cost::kMove * static_cast<double>(s.n);
  const std::int64_t threads = Loop(context, call, s.b * s.c, row_ns).slots();
  const std::int64_t together = Rows::items(s, kRows) >= threads ? kRows : 1, items = Rows::items(s, together);
  const Loop loop(context, call, items, row_ns * static_cast<double>(s.b * s.c) / static_cast<double>(items));
  A* all = nullptr;
  if constexpr (!kAddsInPlace<T>) {
    all = context.arena.reserve_array<A>(loop.slots(), together, s.n);
    if (all == nullptr) return no_memory(call);
  }
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const Rows rows(s, item, together);
      T* const to = static_cast<T*>(p.grad_points) + rows.first * s.n;
      A* sums = nullptr;
      if constexpr (kAddsInPlace<T>) {
        sums = to;
      } else {
        sums = all + slot * together * s.n;
      }
      std::fill_n(sums, rows.count * s.n, A{0});
      const T* const grad = static_cast<const T*>(p.grad_output) + rows.first * s.m;
      add_rows(s, p.idx + rows.image * s.m, grad, rows.count, sums);
      if constexpr (!kAddsInPlace<T>) store_row(sums, to, rows.count * s.n);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// sums[idx[i]] += the channels of grad [channels,pitch] at i, for all i in [0,m); sums [n, a block of channels].
template <class T, class A = Acc<T>>
HWY_INLINE void add_to_panel(const Shape& s, const std::int32_t* idx, const T* grad, std::int64_t channels,
                             A* HWY_RESTRICT sums) {
  constexpr std::int64_t kChannels = layout::kBlockChannels<A>, kTogether = layout::kBlockPixels;
  constexpr std::int64_t kAhead = 4 * kTogether;
  const hn::ScalableTag<A> d;
  HWY_ALIGN A block[kTogether * kChannels] = {};
  for (std::int64_t first = 0; first < s.m; first += kTogether) {
    const std::int64_t count = std::min(kTogether, s.m - first);
    for (std::int64_t c = 0; c < channels; ++c) __builtin_prefetch(value_barrier(grad + c * s.m + first + kAhead));
    if (channels == kChannels) {
      layout::HWY_NAMESPACE::take_pixels(grad + first, s.m, count, block);
    } else {
      for (std::int64_t i = 0; i < channels * count; ++i) {
        block[i % count * kChannels + i / count] = to_acc(grad[i / count * s.m + first + i % count]);
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = idx[first + i];
      if (at < 0 || at >= s.n) continue;
      MLUOPS_UNROLL
      for (std::int64_t v = 0; v < kChannels; v += kLanes<A>) {
        A* const sum = sums + at * kChannels + v;
        hn::StoreU(hn::Add(hn::LoadU(d, sum), hn::LoadU(d, block + i * kChannels + v)), d, sum);
      }
    }
  }
}

/// Most of a panel's lanes have a channel, and every thread has a panel.
template <class T>
Fit fills_panels(const Context&, const mluopsCall& call, const Problem& p) {
  constexpr std::int64_t kChannels = layout::kBlockChannels<Acc<T>>;
  return fit(true, p.shape.c >= kChannels / 2 && p.shape.b * ceil_div(p.shape.c, kChannels) >= call.threads);
}

template <class T>
mluOpStatus_t by_panels(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  constexpr std::int64_t kChannels = layout::kBlockChannels<A>;
  const double channel_ns = cost::kElement * static_cast<double>(s.m) + cost::kMove * static_cast<double>(s.n);
  const Loop loop(context, call, s.b * ceil_div(s.c, kChannels), channel_ns * static_cast<double>(kChannels));
  A* const panels = context.arena.reserve_array<A>(loop.slots(), s.n, kChannels);
  if (panels == nullptr) return no_memory(call);
  const bool large = s.b * s.c * s.n * static_cast<std::int64_t>(sizeof(T)) > second_cache(64);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    A* const sums = panels + slot * s.n * kChannels;
    for (std::int64_t item = begin; item < end; ++item) {
      const auto task = layout::ChannelTask::of<A>(item, s.c);
      const std::int64_t row = task.image * s.c + task.first;
      std::fill_n(sums, s.n * kChannels, A{0});
      add_to_panel(s, p.idx + task.image * s.m, static_cast<const T*>(p.grad_output) + row * s.m, task.count(), sums);
      layout::HWY_NAMESPACE::empty_panel(s.n, sums, task.count(), static_cast<T*>(p.grad_points) + row * s.n, large);
    }
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t by_atomics(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t elements = s.b * s.c * s.n, runs = ceil_div(s.m, kRun);
  T* const gradient = static_cast<T*>(p.grad_points);
  A* const sums = reserve_sums<T>(context, gradient, elements);
  if (sums == nullptr) return no_memory(call);
  clear_sums(context, call, sums, elements);
  const double run_ns = cost::kAtomicAdd * static_cast<double>(std::min(s.m, kRun) * std::min(s.c, kRows));
  Loop(context, call, Rows::items(s) * runs, run_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const Rows rows(s, item / runs);
      const std::int64_t first = item % runs * kRun, count = std::min(kRun, s.m - first);
      const T* const grad = static_cast<const T*>(p.grad_output) + rows.first * s.m + first;
      add_run(s, p.idx + rows.image * s.m + first, count, grad, rows.count, sums + rows.first * s.n,
              [](A* sum, A value) { atomic_add(sum, value); });
    }
  });
  store_sums<T>(context, call, sums, gradient, elements);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {
      {kAtomicPath, atomic_applies<Problem>, by_atomics<T>},
      {"panels", fills_panels<T>, by_panels<T>},
      {"owner", always<Problem>, by_owner<T>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::gather_points::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(gather_points_backward, gather_points, backward, mluopsGatherPointsBackwardProblem, with_element)
