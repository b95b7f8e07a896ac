// grad_offset of a bin, or its part on a tile (backward).
#if defined(MLUOPS_CPU_ROI_MEAN_OFFSET_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_OFFSET_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_OFFSET_INL_H_
#endif

#include "backends/cpu/roi_mean/geometry.h"
#include "backends/cpu/roi_mean/lists.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Sum over pixels and channels of g * pixel * what moving the samples does to the pixel's weight. A row of pixels has
/// `width`; `image` is where the first pixel of the first row is, or would be.
template <class T>
Move<Acc<T>> offset_gradient(const Shape& s, const BinTaps<Acc<T>>& taps, const T* HWY_RESTRICT image,
                             std::int64_t width, const T* HWY_RESTRICT grad_output) {
  using A = Acc<T>;
  Move<A> sum{0, 0};
  const auto add = [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> g[count];
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) g[v] = load(d, grad_output + c + v * lanes);
    auto sum_y = hn::Zero(d), sum_x = hn::Zero(d);
    for (const Tap<A>& y : taps.y) {
      const T* const row = image + y.index * width * s.c + c;
      for (const Tap<A>& x : taps.x) {
        const T* const pixel = row + x.index * s.c;
        hn::Vec<decltype(d)> dot[2] = {hn::Mul(g[0], load(d, pixel)), hn::Zero(d)};
        MLUOPS_UNROLL
        for (int v = 1; v < count; ++v) dot[v % 2] = hn::MulAdd(g[v], load(d, pixel + v * lanes), dot[v % 2]);
        const auto both = hn::Add(dot[0], dot[1]);
        sum_y = hn::MulAdd(hn::Set(d, y.sign * x.lever), both, sum_y);
        sum_x = hn::MulAdd(hn::Set(d, y.lever * x.sign), both, sum_x);
      }
    }
    sum.y += hn::GetLane(hn::SumOfLanes(d, sum_y));
    sum.x += hn::GetLane(hn::SumOfLanes(d, sum_x));
  };
  const std::int64_t wide = s.c - s.c % (kManySums * kLanes<A>);
  for_wide<A, kManySums>(wide, add);
  for_wide<A, kManySums / 4>(s.c - wide,
                             [&](auto d, auto vectors, std::int64_t c) HWY_ATTR { add(d, vectors, wide + c); });
  return sum;
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
