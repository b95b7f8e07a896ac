// The array that atomic additions go to: cleared before, rounded into the gradient after. Include after
// foreach_target.h, like simd-inl.h.
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_SCATTER_ATOMIC_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SCATTER_ATOMIC_SUMS_INL_H_
#else
#define MLUOPS_CPU_SCATTER_ATOMIC_SUMS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// Scratch for the sums of a gradient: the gradient itself where that can be added to (kAddsInPlace), else
/// the arena; nullptr when there is no memory.
template <class T>
Acc<T>* reserve_sums(Context& context, T* gradient, std::int64_t count) {
  if constexpr (kAddsInPlace<T>) {
    return gradient;
  } else {
    return context.arena.reserve_array<Acc<T>>(count);
  }
}

/// sums[0, count) = 0.
template <class A>
void clear_sums(Context& context, const mluopsCall& call, A* sums, std::int64_t count) {
  Loop(context, call, count, cost::kMove).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    zero_non_temporal(sums + begin, (end - begin) * static_cast<std::int64_t>(sizeof(A)));
    non_temporal_fence();
  });
}

/// gradient[0, count) = sums, rounded; nothing to do where the sums were made in place (kAddsInPlace).
template <class T>
void store_sums(Context& context, const mluopsCall& call, const Acc<T>* sums, T* gradient, std::int64_t count) {
  if constexpr (!kAddsInPlace<T>) {
    Loop(context, call, count, cost::kMove).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
      store_row(sums + begin, gradient + begin, end - begin);
    });
  }
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
