// Square transposes in registers. Include after foreach_target.h, like simd-inl.h.
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_SIMD_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SIMD_TRANSPOSE_INL_H_
#else
#define MLUOPS_CPU_SIMD_TRANSPOSE_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class A>
HWY_INLINE void transpose_square(hn::Vec<hn::ScalableTag<A>>*) {}
#else

#if HWY_TARGET <= HWY_AVX3
/// Blocks i and j of a, then k and l of b.
template <int i, int j, int k, int l, class D>
HWY_INLINE hn::Vec<D> pick_blocks(D d, hn::Vec<D> a, hn::Vec<D> b) {
  const hn::Repartition<float, D> df;
  const auto picked =
      _mm512_shuffle_f32x4(hn::BitCast(df, a).raw, hn::BitCast(df, b).raw, i | j << 2 | k << 4 | l << 6);
  return hn::BitCast(d, hn::Vec<decltype(df)>{picked});
}
#endif

/// 128-bit blocks: v[g] block j becomes v[j] block g, for v at distance `stride`.
template <int kBlocks, class D>
HWY_INLINE void transpose_blocks(D d, hn::Vec<D>* v, int stride) {
  if constexpr (kBlocks == 2) {
    const auto v0 = v[0], v1 = v[stride];
    v[0] = hn::ConcatLowerLower(d, v1, v0);
    v[stride] = hn::ConcatUpperUpper(d, v1, v0);
  } else if constexpr (kBlocks == 4) {
#if HWY_TARGET <= HWY_AVX3
    const auto low01 = pick_blocks<0, 1, 0, 1>(d, v[0], v[stride]);
    const auto low23 = pick_blocks<0, 1, 0, 1>(d, v[2 * stride], v[3 * stride]);
    const auto high01 = pick_blocks<2, 3, 2, 3>(d, v[0], v[stride]);
    const auto high23 = pick_blocks<2, 3, 2, 3>(d, v[2 * stride], v[3 * stride]);
    v[0] = pick_blocks<0, 2, 0, 2>(d, low01, low23);
    v[stride] = pick_blocks<1, 3, 1, 3>(d, low01, low23);
    v[2 * stride] = pick_blocks<0, 2, 0, 2>(d, high01, high23);
    v[3 * stride] = pick_blocks<1, 3, 1, 3>(d, high01, high23);
#endif
  }
}

/// 8 vectors of 16-bit lanes: inside each 128-bit block, v[i] lane j becomes v[j] lane i.
template <class D>
HWY_INLINE void transpose_16bit(D d, hn::Vec<D>* v) {
  static_assert(sizeof(hn::TFromD<D>) == 2);
  const hn::RepartitionToWide<D> d2;
  const hn::RepartitionToWide<decltype(d2)> d4;
  hn::Vec<decltype(d2)> pairs[8];
  HWY_UNROLL(4)
  for (int i = 0; i < 4; ++i) {
    pairs[i] = hn::BitCast(d2, hn::InterleaveLower(d, v[2 * i], v[2 * i + 1]));
    pairs[i + 4] = hn::BitCast(d2, hn::InterleaveUpper(d, v[2 * i], v[2 * i + 1]));
  }
  HWY_UNROLL(2)
  for (int i = 0; i < 8; i += 4) {
    const auto lower01 = hn::BitCast(d4, hn::InterleaveLower(d2, pairs[i], pairs[i + 1]));
    const auto upper01 = hn::BitCast(d4, hn::InterleaveUpper(d2, pairs[i], pairs[i + 1]));
    const auto lower23 = hn::BitCast(d4, hn::InterleaveLower(d2, pairs[i + 2], pairs[i + 3]));
    const auto upper23 = hn::BitCast(d4, hn::InterleaveUpper(d2, pairs[i + 2], pairs[i + 3]));
    v[i] = hn::BitCast(d, hn::InterleaveLower(d4, lower01, lower23));
    v[i + 1] = hn::BitCast(d, hn::InterleaveUpper(d4, lower01, lower23));
    v[i + 2] = hn::BitCast(d, hn::InterleaveLower(d4, upper01, upper23));
    v[i + 3] = hn::BitCast(d, hn::InterleaveUpper(d4, upper01, upper23));
  }
}

/// Rows of 8 16-bit elements, 4 floats or 2 doubles, transposed inside each 128-bit block.
template <class D>
HWY_INLINE void transpose_in_blocks(D d, hn::Vec<D>* v) {
  if constexpr (sizeof(hn::TFromD<D>) == 2) {
    transpose_16bit(d, v);
  } else if constexpr (sizeof(hn::TFromD<D>) == 8) {
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
