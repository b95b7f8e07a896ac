// Vectors over rows that are only written. Include after foreach_target.h, like simd-inl.h.
#include <cstdint>
#include <type_traits>

#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_SIMD_OVERLAPPING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SIMD_OVERLAPPING_INL_H_
#else
#define MLUOPS_CPU_SIMD_OVERLAPPING_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// for_overlapping of fewer than 2 * kMost elements.
template <class A, std::int64_t kMost, class F>
HWY_INLINE void for_short_overlapping(std::int64_t n, F&& f) {
  if constexpr (kMost >= 4) {
    if (n < kMost) return for_short_overlapping<A, kMost / 2>(n, f);
    const hn::CappedTag<A, kMost> d;
    n == kMost ? f(d, std::integral_constant<int, 1>(), 0, kMost)
               : f(d, std::integral_constant<int, 2>(), 0, n - kMost);
  } else {
    const hn::CappedTag<A, 1> d;
    if (n == 1) f(d, std::integral_constant<int, 1>(), 0, 1);
    if (n == 2) f(d, std::integral_constant<int, 2>(), 0, 1);
    if (n == 3) f(d, std::integral_constant<int, 3>(), 0, 1);
  }
}

/// for_wide for results that nobody reads meanwhile: the last vector of a row ends with the row, and what it shares
/// with the one before is computed twice, which takes less time than several lanes one by one. f(d, vectors, i, step):
/// so many vectors side by side, `step` elements from one to the next.
template <class A, int kWide, class F>
HWY_INLINE void for_overlapping(std::int64_t n, F&& f) {
  constexpr std::int64_t kStep = kLanes<A>;
  if (n < kStep) return for_short_overlapping<A, kStep / 2>(n, f);
  const hn::ScalableTag<A> d;
  std::int64_t i = 0;
  for (; i + kWide * kStep <= n; i += kWide * kStep) f(d, std::integral_constant<int, kWide>(), i, kStep);
  if constexpr (kWide == 4) {
    const std::int64_t whole = (n - i) / kStep;
    if (whole == 3) f(d, std::integral_constant<int, 3>(), i, kStep);
    if (whole == 2) f(d, std::integral_constant<int, 2>(), i, kStep);
    if (whole > 1) i += whole * kStep;
  }
  for (; i + 2 * kStep <= n; i += kStep) f(d, std::integral_constant<int, 1>(), i, kStep);
  if (n - i > kStep) return f(d, std::integral_constant<int, 2>(), i, n - i - kStep);
  if (n - i == 1) return f(hn::CappedTag<A, 1>(), std::integral_constant<int, 1>(), i, 1);
  if (n > i) f(d, std::integral_constant<int, 1>(), n - kStep, kStep);
}

/// for_overlapping with one vector at a time: f(d, i) for each.
template <class A, class F>
HWY_INLINE void for_each_overlapping(std::int64_t n, F&& f) {
  for_overlapping<A, 1>(n, [&](auto d, auto vectors, std::int64_t i, std::int64_t step) HWY_ATTR {
    for (int v = 0; v < decltype(vectors)::value; ++v) f(d, i + v * step);
  });
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
