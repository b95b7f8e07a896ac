// GatherPoints and GroupPoints, backward: grad_points[b,c,idx[b,m]] += grad_output[b,c,m].
//
// grad_output [B,C,M], idx [B,M], grad_points [B,C,N].
// owner: an item is a row (b,c), whose sums it makes alone, in increasing m: the same bits for every number of threads.
// atomic: an item is a run of the indices of up to four rows, added to sums that items share. One addition for each
// element read: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gather_points/backward.cpp"
#include <hwy/foreach_target.h>

#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/gather_points/geometry.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::gather_points::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using Problem = mluopsGatherPointsBackwardProblem;

/// add(sum, value) for the elements of `count` indices of some rows; sums [rows,n], grad [rows,pitch].
template <class T, class Add>
HWY_INLINE void add_run(const Shape& s, const std::int32_t* idx, std::int64_t count, const T* grad, std::int64_t rows,
                        Acc<T>* sums, Add&& add) {
  for (std::int64_t r = 0; r < rows; ++r, grad += s.m, sums += s.n) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = idx[i];
      if (at >= 0 && at < s.n) add(sums + at, to_acc(grad[i]));
    }
  }
}

template <class T>
mluOpStatus_t by_owner(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const double row_ns = cost::kScatter * static_cast<double>(s.m) + cost::kMove * static_cast<double>(s.n);
  const Loop loop(context, call, s.b * s.c, row_ns);
  const std::int64_t pitch = round_up(s.n, 64 / static_cast<std::int64_t>(sizeof(A)));
  A* all = nullptr;
  if constexpr (!kAddsInPlace<T>) {
    all = context.arena.reserve_array<A>(loop.slots(), pitch);
    if (all == nullptr) return no_memory(call);
  }
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t row = begin; row < end; ++row) {
      T* const to = static_cast<T*>(p.grad_points) + row * s.n;
      A* sums = nullptr;
      if constexpr (kAddsInPlace<T>) {
        sums = to;
      } else {
        sums = all + slot * pitch;
      }
      std::fill_n(sums, s.n, A{0});
      add_run(s, p.idx + row / s.c * s.m, s.m, static_cast<const T*>(p.grad_output) + row * s.m, 1, sums,
              [](A* sum, A value) { *sum += value; });
      if constexpr (!kAddsInPlace<T>) store_row(sums, to, s.n);
    }
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
      {"owner", always<Problem>, by_owner<T>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(backward, mluopsGatherPointsBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::gather_points::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(gather_points_backward, gather_points, backward, mluopsGatherPointsBackwardProblem)

}  // namespace mluops::cpu
#endif
