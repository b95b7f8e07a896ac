// Where the samples of MsDeformAttn fall, and the pixels they read.
#include <cstdint>

#include "backends/cpu/sampling/bilinear.h"
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

/// The pixels under a sample: numbers among the keys.
template <class A>
using Sample = PaddedSample<A>;

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
    if (!sample_padded(y, x, h, w, s)) return false;
    for (std::int64_t& pixel : s.pixel) pixel += start;
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
