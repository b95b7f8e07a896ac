// Tiles of 16 points of 16 channels transposed in two steps, four parts each, so that one tile can be transposed
// between the additions of another. Include after foreach_target.h, like simd-inl.h.
//
// A transpose is shuffles, the additions are loads and stores; a whole transpose is longer than the core looks ahead,
// so that one after the other they overlap little.
#include "backends/cpu/kernels/three_interpolate/geometry.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"

#if defined(MLUOPS_CPU_THREE_INTERPOLATE_AVX512_TRANSPOSE_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_AVX512_TRANSPOSE_TILES_INL_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_AVX512_TRANSPOSE_TILES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
/// Parts of a tile: four points, or four channels.
constexpr int kParts = 4;

/// A tile on its way from rows of channels to points, as an array of vectors, which stays in registers. Every part of
/// load() comes before the parts of points() in order.
template <class T>
struct TransposeTile {
  using D = FullTag<T>;
  using V = hn::Vec<D>;
  static constexpr int kVectors = 16;

  /// row: the first of the 16 channels.
  static HWY_INLINE void load(const T* row, std::int64_t pitch, int part, V* v) {
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) v[4 * k + part] = HWY_NAMESPACE::load(D(), row + (part + 4 * k) * pitch);
    transpose_blocks<4>(D(), v + part, 4);
  }

  /// points[k] is point 4 * part + k.
  static HWY_INLINE void points(int part, V* v, hn::Vec<D>* points) {
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) points[k] = v[4 * part + k];
    transpose_in_blocks(D(), points);
  }
};

/// Half is transposed as such, with half the shuffles, and promoted at the end.
template <>
struct TransposeTile<Half> {
  using D = FullTag<Half>;
  using Narrow = hn::ScalableTag<std::uint16_t>;
  using V = hn::Vec<Narrow>;
  static constexpr int kVectors = 8;

  static HWY_INLINE void load(const Half* row, std::int64_t pitch, int part, V* v) {
    const Narrow d;
    const hn::RepartitionToWide<Narrow> d2;
    const hn::Half<Narrow> dh;
    V two[2];
    HWY_UNROLL(2)
    for (int k = 0; k < 2; ++k) {
      const Half* const lower = row + (2 * part + k) * pitch;
      two[k] = hn::Combine(d, hn::LoadU(dh, &lower[8 * pitch].bits), hn::LoadU(dh, &lower->bits));
    }
    const V low = hn::InterleaveLower(d, two[0], two[1]), high = hn::InterleaveUpper(d, two[0], two[1]);
    V* const quad = v + part / 2 * 4;
    if (part % 2 == 0) {
      quad[0] = low;
      quad[2] = high;
      return;
    }
    const auto pair = [&](V* first, V second) HWY_ATTR {
      const auto a = hn::BitCast(d2, *first), b = hn::BitCast(d2, second);
      first[0] = hn::BitCast(d, hn::InterleaveLower(d2, a, b));
      first[1] = hn::BitCast(d, hn::InterleaveUpper(d2, a, b));
    };
    pair(quad, low);
    pair(quad + 2, high);
  }

  static HWY_INLINE void points(int part, V* v, hn::Vec<D>* points) {
    const hn::Half<Narrow> dh;
    const hn::Rebind<hwy::float16_t, D> df16;
    const int first = part % 2 * 2;
    if (part < 2) {
      finish(v + first);
      finish(v + first + 1);
    }
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      const V two = v[first + k / 2 + k % 2 * 4];
      const auto one = part < 2 ? hn::LowerHalf(dh, two) : hn::UpperHalf(dh, two);
      points[k] = hn::PromoteTo(D(), hn::BitCast(df16, one));
    }
  }

 private:
  /// An even point, and four vectors further on the odd one; behind each that eight further on.
  static HWY_INLINE void finish(V* v) {
    const Narrow d;
    const hn::Repartition<std::uint64_t, Narrow> d4;
    const auto a = hn::BitCast(d4, v[0]), b = hn::BitCast(d4, v[4]);
    const V even = hn::BitCast(d, hn::InterleaveLower(d4, a, b)), odd = hn::BitCast(d, hn::InterleaveUpper(d4, a, b));
    v[0] = pick_blocks<0, 2, 1, 3>(d, even, even);
    v[4] = pick_blocks<0, 2, 1, 3>(d, odd, odd);
  }
};
#endif

}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
