// How gradients that several outputs add to are summed.
//
// owner:  each gradient element is written by one task, in an order that does not depend on threads: bitwise equal for
//         every thread count and every run.
// atomic: tasks go over outputs and add into a shared array with relaxed atomic additions: the order, and so the last
//         bits, vary.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "backends/cpu/runtime/context.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/element.h"
#include "common/shape.h"

namespace mluops::cpu {

/// The name every list gives its atomic path; all others are owner's.
inline constexpr const char* kAtomicPath = "atomic";

/// Whether the atomic path runs: the caller has to give leave (MLUOP_ATOMICS_ALLOWED), MLUOP_CPU_SCATTER to ask for it.
/// `auto` is owner: a compare-and-swap per element loses to plain additions to what somebody owns wherever there is
/// something to add (docs/performance.md). Paths that come before the atomic one in a list stand back then.
inline bool wants_atomics(const Context& context, const mluopsCall& call) {
  return call.atomics == MLUOP_ATOMICS_ALLOWED && context.scatter == ScatterChoice::kAtomic;
}

template <class Problem>
Fit atomic_applies(const Context& context, const mluopsCall& call, const Problem&) {
  return fit(call.atomics == MLUOP_ATOMICS_ALLOWED, wants_atomics(context, call));
}

/// run_path of a list with both strategies; notes in the context which it was.
template <class Problem, std::size_t N>
mluOpStatus_t run_scatter_path(Context& context, const mluopsCall& call, const Problem& problem,
                               const Path<Problem> (&paths)[N]) {
  const mluOpStatus_t status = run_path(context, call, problem, paths);
  context.last_scatter = context.last_path == std::string_view(kAtomicPath) ? "atomic" : "owner";
  return status;
}

/// *target += value, as one indivisible step.
template <class A>
inline void atomic_add(A* target, A value) {
  std::atomic_ref<A> shared(*target);
  A seen = shared.load(std::memory_order_relaxed);
  while (!shared.compare_exchange_weak(seen, seen + value, std::memory_order_relaxed)) {
  }
}

/// The array atomic additions go to: the gradient itself where its elements are sums already (float, double), else an
/// array of floats in the arena that is rounded into the gradient at the end.
template <class T>
inline constexpr bool kAddsInPlace = std::is_same_v<T, Acc<T>>;

}  // namespace mluops::cpu
