// Square transposes in registers. Include after foreach_target.h, like simd.h.
#include "backends/cpu/simd.h"

#if defined(MLUOPS_CPU_TRANSPOSE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_TRANSPOSE_H_
#else
#define MLUOPS_CPU_TRANSPOSE_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class A>
HWY_INLINE void transpose_square(hn::Vec<hn::ScalableTag<A>>*) {}
#else

/// 128-bit blocks: v[g] block j becomes v[j] block g, for v at distance `stride`.
template <int kBlocks, class D>
HWY_INLINE void transpose_blocks(D d, hn::Vec<D>* v, int stride) {
  if constexpr (kBlocks == 2) {
    const auto v0 = v[0], v1 = v[stride];
    v[0] = hn::ConcatLowerLower(d, v1, v0);
    v[stride] = hn::ConcatUpperUpper(d, v1, v0);
  } else if constexpr (kBlocks == 4) {
    const auto v0 = v[0], v1 = v[stride], v2 = v[2 * stride], v3 = v[3 * stride];
    const auto low02 = hn::ConcatLowerLower(d, v2, v0), low13 = hn::ConcatLowerLower(d, v3, v1);
    const auto high02 = hn::ConcatUpperUpper(d, v2, v0), high13 = hn::ConcatUpperUpper(d, v3, v1);
    v[0] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(low13), low02);
    v[stride] = hn::OddEvenBlocks(low13, hn::SwapAdjacentBlocks(low02));
    v[2 * stride] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(high13), high02);
    v[3 * stride] = hn::OddEvenBlocks(high13, hn::SwapAdjacentBlocks(high02));
  }
}

/// Rows of 4 floats or 2 doubles, transposed inside each 128-bit block.
template <class D>
HWY_INLINE void transpose_in_blocks(D d, hn::Vec<D>* v) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const auto lower = hn::InterleaveLower(d, v[0], v[1]);
    v[1] = hn::InterleaveUpper(d, v[0], v[1]);
    v[0] = lower;
  } else {
    const hn::RepartitionToWide<D> dw;
    const auto lower01 = hn::BitCast(dw, hn::InterleaveLower(d, v[0], v[1]));
    const auto upper01 = hn::BitCast(dw, hn::InterleaveUpper(d, v[0], v[1]));
    const auto lower23 = hn::BitCast(dw, hn::InterleaveLower(d, v[2], v[3]));
    const auto upper23 = hn::BitCast(dw, hn::InterleaveUpper(d, v[2], v[3]));
    v[0] = hn::BitCast(d, hn::InterleaveLower(dw, lower01, lower23));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(dw, lower01, lower23));
    v[2] = hn::BitCast(d, hn::InterleaveLower(dw, upper01, upper23));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(dw, upper01, upper23));
  }
}

/// v[i] lane j becomes v[j] lane i; as many vectors as a vector has lanes.
template <class A>
HWY_INLINE void transpose_square(hn::Vec<hn::ScalableTag<A>>* v) {
  const hn::ScalableTag<A> d;
  constexpr int kPerBlock = 16 / static_cast<int>(sizeof(A));
  constexpr int kBlocks = kLanes<A> / kPerBlock;
  HWY_UNROLL(4)
  for (int g = 0; g < kBlocks; ++g) transpose_in_blocks(d, v + g * kPerBlock);
  HWY_UNROLL(4)
  for (int k = 0; k < kPerBlock; ++k) transpose_blocks<kBlocks>(d, v + k, kPerBlock);
}
#endif

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
