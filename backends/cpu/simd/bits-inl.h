// Lanes of a mask as bits. Include after foreach_target.h, like simd-inl.h.
#include <cstdint>
#include <cstring>

#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_SIMD_BITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SIMD_BITS_INL_H_
#else
#define MLUOPS_CPU_SIMD_BITS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// Bit i: lane i of the mask.
template <class D, class M>
HWY_INLINE std::uint32_t bits_of(D d, M mask) {
  std::uint8_t bytes[8] = {};  // what StoreMaskBits may write
  hn::StoreMaskBits(d, mask, bytes);
  std::uint32_t bits = 0;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
