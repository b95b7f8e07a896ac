// Gradients of 16 channels added point by point, tile by tile: a tile of 16 points is transposed in two steps of four
// parts, each of them between the additions of the tile before. Include after foreach_target.h, like simd-inl.h.
//
// A transpose is shuffles, the additions are loads and stores; a whole transpose is longer than the core looks ahead,
// so that one after the other they overlap little.
#include "backends/cpu/kernels/three_interpolate/geometry.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"

#if defined(MLUOPS_CPU_THREE_INTERPOLATE_SCATTER_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_SCATTER_TILES_INL_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_SCATTER_TILES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// One point's three additions. sums is channel c of row 0.
template <class D, class A>
HWY_INLINE void scatter_point(D d, hn::Vec<D> grad, const std::uint32_t* HWY_RESTRICT rows,
                              const A* HWY_RESTRICT weights, A* HWY_RESTRICT sums) {
  HWY_UNROLL(3)
  for (int j = 0; j < 3; ++j) {
    A* const sum = sums + rows[j];
    hn::Store(hn::MulAdd(hn::Set(d, weights[j]), grad, hn::Load(d, sum)), d, sum);
  }
}

#if HWY_TARGET <= HWY_AVX3
/// Every part of load_part() comes before the parts of points_of() in order.
constexpr int kParts = 4;

/// row: the first of the 16 channels.
template <class T>
HWY_INLINE void load_part(const T* row, std::int64_t pitch, int part, hn::Vec<FullTag<T>>* tile) {
  const FullTag<T> d;
  HWY_UNROLL(4)
  for (int k = 0; k < 4; ++k) tile[4 * k + part] = load(d, row + (part + 4 * k) * pitch);
  transpose_blocks<4>(d, tile + part, 4);
}

/// Adds the first round(points, 16) points, at least 16, of 16 channels into sums[point, 16]. Returns how many.
/// Meanwhile the gradients of the next block are prefetched, in the order of memory, which it likes best, for the
/// second cache: rows are often a multiple of 4 KB apart and displace each other in the first.
template <class T>
HWY_NOINLINE std::int64_t scatter_tiles(Rows<const T> in, const std::uint32_t* HWY_RESTRICT rows,
                                        const float* HWY_RESTRICT weights, std::int64_t points,
                                        float* HWY_RESTRICT sums) {
  constexpr std::int64_t lanes = kLanes<float>;
  const FullTag<T> d;
  const char* ahead = reinterpret_cast<const char*>(in.first + lanes * in.pitch);
  hn::Vec<FullTag<T>> tile[lanes], next[lanes];
  HWY_UNROLL(4)
  for (int part = 0; part < kParts; ++part) load_part(in.first, in.pitch, part, tile);
  const auto add = [&](const hn::Vec<FullTag<T>>* v) HWY_ATTR {
    order_barrier(ahead);
    HWY_UNROLL(2)
    for (int k = 0; k < 2; ++k, rows += 3, weights += 3, ahead += lanes * sizeof(T)) {
      __builtin_prefetch(ahead, 0, 2);
      scatter_point(d, v[k], rows, weights, sums);
    }
  };
  std::int64_t i = lanes;
  for (; i + lanes <= points; i += lanes) {
    const std::int64_t pitch = value_barrier(in.pitch);
    HWY_UNROLL(4)
    for (int part = 0; part < kParts; ++part) {
      transpose_in_blocks(d, tile + 4 * part);
      add(tile + 4 * part);
      load_part(in.first + i, pitch, part, next);
      add(tile + 4 * part + 2);
    }
    HWY_UNROLL(16)
    for (int k = 0; k < lanes; ++k) tile[k] = next[k];
  }
  HWY_UNROLL(4)
  for (int part = 0; part < kParts; ++part) {
    transpose_in_blocks(d, tile + 4 * part);
    add(tile + 4 * part);
    add(tile + 4 * part + 2);
  }
  return i;
}
#endif

}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
