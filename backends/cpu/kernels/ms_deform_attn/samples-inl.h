// Where the samples of MsDeformAttn fall, and the pixels they read.
#include <array>
#include <cmath>
#include <cstdint>

#include "backends/cpu/runtime/index.h"
#include "backends/cpu/simd/element.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem.h"

#if defined(MLUOPS_CPU_MS_DEFORM_ATTN_SAMPLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_MS_DEFORM_ATTN_SAMPLES_INL_H_
#else
#define MLUOPS_CPU_MS_DEFORM_ATTN_SAMPLES_INL_H_
#endif

#ifndef MLUOPS_CPU_MS_DEFORM_ATTN_SAMPLES_ONCE_
#define MLUOPS_CPU_MS_DEFORM_ATTN_SAMPLES_ONCE_
namespace mluops::cpu::ms_deform_attn {

using Shape = mluopsMsDeformAttnShape;

/// Nanoseconds: to find a sample's pixels; to add or multiply one channel of one of them.
constexpr double kSampleNs = 8, kChannelNs = 0.08;

}  // namespace mluops::cpu::ms_deform_attn
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// The four pixels under a sample, row by row: numbers among the keys, bilinear weights, and which of them are on the
/// map. `up`, `left`: the fractions of the lower row and of the right column.
template <class A>
struct Sample {
  std::array<std::int64_t, 4> key;
  std::array<A, 4> weight;
  std::array<bool, 4> on_map;
  A up, left;
};

/// A map of the pyramid.
struct Level {
  std::int64_t h, w, start;

  template <class Problem>
  static Level of(const Problem& p, std::int64_t level) {
    return {p.spatial_shapes[2 * level], p.spatial_shapes[2 * level + 1], p.level_start_index[level]};
  }

  /// False where the sample is off the map: NaN is.
  template <class A>
  HWY_INLINE bool sample(A loc_x, A loc_y, Sample<A>& s) const {
    const A y = loc_y * static_cast<A>(h) - A{0.5}, x = loc_x * static_cast<A>(w) - A{0.5};
    if (!(y > -1 && x > -1 && y < static_cast<A>(h) && x < static_cast<A>(w)) || h == 0 || w == 0) return false;
    const A top = std::floor(y), near = std::floor(x);
    const std::int64_t row = top < 0 ? -1 : index_of(top, h), col = near < 0 ? -1 : index_of(near, w);
    s.up = y - top;
    s.left = x - near;
    const bool rows[] = {row >= 0, row + 1 < h}, cols[] = {col >= 0, col + 1 < w};
    const A down[] = {1 - s.up, s.up}, across[] = {1 - s.left, s.left};
    for (std::size_t i = 0; i < 4; ++i) {
      s.on_map[i] = rows[i / 2] && cols[i % 2];
      s.key[i] = start + (row + static_cast<std::int64_t>(i / 2)) * w + col + static_cast<std::int64_t>(i % 2);
      s.weight[i] = down[i / 2] * across[i % 2];
    }
    return true;
  }
};

/// f(level, sample, number of the sample among all) for the samples of one head of one query that are on their map,
/// none(number) for the others. `first`: number of the head's first sample.
template <class T, class Problem, class F, class None>
HWY_INLINE void for_samples(const Problem& p, std::int64_t first, F&& f, None&& none) {
  using A = Acc<T>;
  const auto* const loc = static_cast<const T*>(p.sampling_loc);
  Sample<A> sample;
  for (std::int64_t l = 0, i = first; l < p.shape.levels; ++l) {
    const Level level = Level::of(p, l);
    for (std::int64_t point = 0; point < p.shape.points; ++point, ++i) {
      if (level.sample(to_acc(loc[2 * i]), to_acc(loc[2 * i + 1]), sample)) {
        f(level, sample, i);
      } else {
        none(i);
      }
    }
  }
}

}  // namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
