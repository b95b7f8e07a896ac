// Elements copied, zeroed and prefetched: what PSAMask is made of.
#if defined(MLUOPS_CPU_PSAMASK_MOVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_MOVES_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_MOVES_INL_H_
#endif

#include <cstring>

#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
template <class E>
void copy(const E* from, E* to, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(E));
}

template <class E>
void zero(E* to, std::int64_t count) {
  std::memset(to, 0, static_cast<std::size_t>(count) * sizeof(E));
}

/// Hints that `count` elements are needed soon: lines come into the second-level cache. Into the first the same
/// requests take longer than the copy, because fewer of them can be under way.
template <class E>
HWY_INLINE void prefetch_row(const E* from, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(E);
  prefetch<2>(from, count + kLine - 1);
}

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
