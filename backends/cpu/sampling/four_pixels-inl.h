// Sums over the channels of the four pixels under a sample. Include after foreach_target.h, like simd-inl.h.
#if defined(MLUOPS_CPU_SAMPLING_FOUR_PIXELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SAMPLING_FOUR_PIXELS_INL_H_
#else
#define MLUOPS_CPU_SAMPLING_FOUR_PIXELS_INL_H_
#endif

#include <cstdint>

#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/simd/element.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// Dot products of `grad` with four rows of n channels.
template <class G, class T>
HWY_INLINE void dot_rows(const G* grad, const T* const (&rows)[4], std::int64_t n, Acc<T>* dots) {
  const hn::ScalableTag<Acc<T>> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    const auto g = load(d, grad + c);
    s0 = hn::MulAdd(g, load(d, rows[0] + c), s0);
    s1 = hn::MulAdd(g, load(d, rows[1] + c), s1);
    s2 = hn::MulAdd(g, load(d, rows[2] + c), s2);
    s3 = hn::MulAdd(g, load(d, rows[3] + c), s3);
  }
  sum_4_vectors(d, s0, s1, s2, s3, dots);
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::int64_t i = c; i < n; ++i) dots[k] += to_acc(grad[i]) * to_acc(rows[k][i]);
  }
}

/// What a sample's gradient is in its row, its column and its weight, from its four pixels' products with the gradient,
/// 0 off the map.
template <class A>
struct SampleSlopes {
  A down, across, weight;

  SampleSlopes(const PaddedSample<A>& s, const A* dots)
      : down((1 - s.left) * (dots[2] - dots[0]) + s.left * (dots[3] - dots[1])),
        across((1 - s.up) * (dots[1] - dots[0]) + s.up * (dots[3] - dots[2])),
        weight(s.weight[0] * dots[0] + s.weight[1] * dots[1] + s.weight[2] * dots[2] + s.weight[3] * dots[3]) {}
};

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
