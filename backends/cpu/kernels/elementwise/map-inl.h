// Loops over elements that do not depend on each other.
#include <algorithm>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_KERNELS_ELEMENTWISE_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_KERNELS_ELEMENTWISE_MAP_INL_H_
#else
#define MLUOPS_CPU_KERNELS_ELEMENTWISE_MAP_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::elementwise::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Results wait for each other in the first-level cache: stores may then be non-temporal, and the output may be the
/// input.
inline constexpr std::int64_t kBlock = 1024;

/// Fetches the element of the next block that has the place of *x in its block, for arrays that are read from end to
/// end: while the results of a block are stored, no read runs ahead. The address may lie beyond the array, so it is
/// computed as a number.
template <class T>
HWY_INLINE void prefetch_ahead(const T* x) {
  hwy::Prefetch(reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(x) + kBlock * sizeof(T)));
}

/// fill(first, n, results) writes n <= kBlock results from element `first` on. Blocks are shared by threads; each
/// element is read and written once.
template <class T, class F>
mluOpStatus_t map_blocks(Context& context, const mluopsCall& call, T* out, std::int64_t count, double element_ns,
                         F fill) {
  const bool non_temporal = count * static_cast<std::int64_t>(sizeof(T)) > second_cache(512);
  const std::int64_t blocks = (count + kBlock - 1) / kBlock;
  Loop(context, call, blocks, kBlock * element_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    HWY_ALIGN Acc<T> results[kBlock];
    for (std::int64_t first = begin * kBlock; first < std::min(end * kBlock, count); first += kBlock) {
      const std::int64_t n = std::min(kBlock, count - first);
      fill(first, n, results);
      store_row(non_temporal, results, out + first, n);
    }
    if (non_temporal) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

/// out[i] = f(d, i), in Acc<T>.
template <class T, class F>
mluOpStatus_t map(Context& context, const mluopsCall& call, T* out, std::int64_t count, double element_ns, F f) {
  return map_blocks(
      context, call, out, count, element_ns, [f](std::int64_t first, std::int64_t n, Acc<T>* results) HWY_ATTR {
        for_lanes<Acc<T>>(n, [&](auto d, std::int64_t i) HWY_ATTR { hn::StoreU(f(d, first + i), d, results + i); });
      });
}

/// out[i] = f(i), one after the other.
template <class T, class F>
mluOpStatus_t map_scalars(Context& context, const mluopsCall& call, T* out, std::int64_t count, double element_ns,
                          F f) {
  Loop(context, call, count, element_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = f(i);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::elementwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
