// How gradients that several outputs add to are summed.
//
// owner:  each gradient element is written by one task, in an order that does not depend on threads: the same bits for
//         every thread count and every run.
// atomic: tasks go over outputs and add into a shared array with relaxed atomic additions: the order, and so the last
//         bits, vary.
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/cpu/context.h"
#include "backends/cpu/element.h"
#include "common/shape.h"

namespace mluops::cpu {

enum class Scatter { kOwner, kAtomic };

/// The strategy of this call, noted in the context. Atomic is taken when MLUOP_CPU_SCATTER asks for it and the caller
/// gives leave (MLUOP_ATOMICS_ALLOWED). `auto` is owner: a compare-and-swap per element loses to plain additions to
/// what somebody owns wherever there is something to add (docs/performance.md).
inline Scatter choose_scatter(Context& context, const mluopsCall& call) {
  const bool atomic = context.scatter == ScatterChoice::kAtomic && call.atomics == MLUOP_ATOMICS_ALLOWED;
  context.last_scatter = atomic ? "atomic" : "owner";
  return atomic ? Scatter::kAtomic : Scatter::kOwner;
}

/// *target += value, as one indivisible step.
template <class A>
inline void atomic_add(A* target, A value) {
  std::atomic_ref<A> shared(*target);
  A seen = shared.load(std::memory_order_relaxed);
  while (!shared.compare_exchange_weak(seen, seen + value, std::memory_order_relaxed)) {
  }
}

/// target[0, n) += row[0, n), each element indivisibly.
template <class A>
inline void atomic_add_row(A* target, const A* row, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) atomic_add(target + i, row[i]);
}

/// The array atomic additions go to: the gradient itself where its elements are sums already (float, double), else an
/// array of floats in the scratch block that is rounded into the gradient at the end.
template <class T>
inline constexpr bool kAddsInPlace = std::is_same_v<T, Acc<T>>;

}  // namespace mluops::cpu
