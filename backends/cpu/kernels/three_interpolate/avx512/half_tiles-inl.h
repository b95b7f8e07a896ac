// Tiles of 16 points of 16 channels of half, transposed as such, before they are promoted or after they are demoted:
// half the shuffles of a transpose of floats. And sums that are taken out of a block.
#if defined(MLUOPS_CPU_THREE_INTERPOLATE_AVX512_HALF_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_AVX512_HALF_TILES_INL_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_AVX512_HALF_TILES_INL_H_
#endif

#include "backends/cpu/kernels/three_interpolate/geometry.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// A vector of sums, and leaves zeros in their place.
template <class D>
HWY_INLINE hn::Vec<D> load_and_clear(D d, hn::TFromD<D>* sums) {
  const auto v = hn::Load(d, sums);
  hn::Store(hn::Zero(d), d, sums);
  return v;
}

#if HWY_TARGET <= HWY_AVX3
/// A tile of 16x16 sums is transposed as half: half the shuffles.
using Tag16 = hn::ScalableTag<std::uint16_t>;
using HalfTag16 = hn::Half<Tag16>;

/// Two points of 16 channels as one vector of half.
HWY_INLINE hn::Vec<Tag16> demote_two(hn::Vec<FullTag<Half>> first, hn::Vec<FullTag<Half>> second) {
  const Tag16 d;
  const HalfTag16 dh;
  const hn::Rebind<hwy::float16_t, FullTag<Half>> df16;
  return hn::Combine(d, hn::BitCast(dh, hn::DemoteTo(df16, second)), hn::BitCast(dh, hn::DemoteTo(df16, first)));
}

/// z[c] = 16 points of channel c, and behind them those of channel c + 8, from z[k] = points k and k + 8.
HWY_INLINE void transpose_points_16bit(hn::Vec<Tag16>* z) {
  const Tag16 d;
  transpose_16bit(d, z);
  HWY_UNROLL(8)
  for (int c = 0; c < 8; ++c) z[c] = pick_blocks<0, 2, 1, 3>(d, z[c], z[c]);
}

/// z[c] = 16 points of channel c, and behind them those of channel c + 8, from v[k] = point k of 16 channels.
HWY_INLINE void demote_tile(const hn::Vec<FullTag<Half>>* v, hn::Vec<Tag16>* z) {
  HWY_UNROLL(8)
  for (int k = 0; k < 8; ++k) z[k] = demote_two(v[k], v[k + 8]);
  transpose_points_16bit(z);
}

/// Stores what transpose_points_16bit made as rows of points.
HWY_INLINE void store_transposed_16bit(const hn::Vec<Tag16>* z, Half* row, std::int64_t pitch) {
  const HalfTag16 dh;
  HWY_UNROLL(8)
  for (int c = 0; c < 8; ++c, row += pitch) {
    hn::StoreU(hn::LowerHalf(dh, z[c]), dh, &row->bits);
    hn::StoreU(hn::UpperHalf(dh, z[c]), dh, &row[8 * pitch].bits);
  }
}

/// 32 points of 16 channels, zeros in their place, to a cache line of each channel with non-temporal stores.
HWY_INLINE void store_transposed_non_temporal(float* HWY_RESTRICT block, Half* row, std::int64_t pitch) {
  const Tag16 d;
  const FullTag<Half> df;
  constexpr int lanes = kLanes<float>;
  hn::Vec<FullTag<Half>> v[lanes];
  hn::Vec<Tag16> first[8], second[8];
  HWY_UNROLL(16)
  for (int k = 0; k < lanes; ++k) v[k] = load_and_clear(df, block + k * lanes);
  demote_tile(v, first);
  HWY_UNROLL(16)
  for (int k = 0; k < lanes; ++k) v[k] = load_and_clear(df, block + (k + lanes) * lanes);
  demote_tile(v, second);
  HWY_UNROLL(8)
  for (int c = 0; c < 8; ++c, row += pitch) {
    hn::Stream(hn::ConcatLowerLower(d, second[c], first[c]), d, &row->bits);
    hn::Stream(hn::ConcatUpperUpper(d, second[c], first[c]), d, &row[8 * pitch].bits);
  }
}
#endif

}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
