// grad_offset of a bin, or its part on a tile (backward).
#if defined(MLUOPS_CPU_ROI_MEAN_OFFSET_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_OFFSET_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_OFFSET_INL_H_
#endif

#include "backends/cpu/sampling/roi_mean/geometry.h"
#include "backends/cpu/sampling/roi_mean/lists.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Sum over pixels and channels of g * pixel * what moving the samples does to the pixel's weight.
template <class T>
Move<Acc<T>> offset_gradient(const Shape& s, const BinTaps<Acc<T>>& taps, const T* HWY_RESTRICT image,
                             const T* HWY_RESTRICT grad_output) {
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
      const T* const row = image + y.index * s.w * s.c + c;
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

/// kVectors vectors of channels of the pixels of a row, promoted once for all bins.
template <class T, int kVectors>
class WidePixels {
 public:
  using A = Acc<T>;

  /// The channels of pixel 0, and the distance to pixel 1.
  WidePixels(const T* row, std::int64_t stride) : row_(row), stride_(stride) {}

  /// `used`: at() is read, `pair`: next() too.
  template <class D>
  HWY_INLINE void move_to(D d, std::int64_t x, bool used, bool pair) {
    if constexpr (std::is_same_v<T, A>) {
      at_ = row_ + x * stride_;
      next_ = at_ + stride_;
    } else {
      at_ = wide_[x % 2];
      next_ = wide_[(x + 1) % 2];
      if (used && !known_) promote(d, x);
      if (pair) promote(d, x + 1);
      known_ = pair;
    }
  }
  const A* at() const { return at_; }
  const A* next() const { return next_; }

 private:
  template <class D>
  HWY_INLINE void promote(D d, std::int64_t x) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(load(d, row_ + x * stride_ + v * lanes), d, wide_[x % 2] + v * lanes);
    }
  }

  const T* row_;
  std::int64_t stride_;
  const A *at_ = nullptr, *next_ = nullptr;
  bool known_ = false;  ///< at() was next() before
  HWY_ALIGN A wide_[2][std::is_same_v<T, A> ? 1 : kVectors * kLanes<A>];
};

#if HWY_TARGET != HWY_SCALAR
/// Lanes two apart added up.
template <class D>
HWY_INLINE auto fold_to_two(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) <= 2) {
    return v;
  } else {
    const hn::Half<D> half;
    return fold_to_two(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

/// The sums of the lanes of v0 and of v1 into sums[0] and sums[1], or added to them.
template <class D, class A = hn::TFromD<D>>
HWY_INLINE void put_dots(D d, hn::Vec<D> v0, hn::Vec<D> v1, bool first, A* HWY_RESTRICT sums) {
  if constexpr (hn::MaxLanes(d) == 1) {
    sums[0] = (first ? A{0} : sums[0]) + hn::GetLane(v0);
    sums[1] = (first ? A{0} : sums[1]) + hn::GetLane(v1);
  } else {
#if HWY_TARGET != HWY_SCALAR
    const hn::CappedTag<A, 2> two;
    const auto dots = fold_to_two(d, hn::Add(hn::InterleaveLower(d, v0, v1), hn::InterleaveUpper(d, v0, v1)));
    hn::StoreU(first ? dots : hn::Add(dots, hn::LoadU(two, sums)), two, sums);
#endif
  }
}

/// From the dots of a bin's links, row by row.
template <class A>
Move<A> move_of(const BinTaps<A>& taps, const A* HWY_RESTRICT dots) {
  Move<A> sum{0, 0};
  for (const Tap<A>& y : taps.y) {
    A levers = 0, signs = 0;
    for (const Tap<A>* x = taps.x.begin(); x != taps.x.end(); ++x, dots += 2) {
      levers += x->lever * dots[0];
      signs += x->sign * dots[0];
      if (!pairs_with_next(x, taps.x.end())) continue;
      ++x;
      levers += x->lever * dots[1];
      signs += x->sign * dots[1];
    }
    sum.y += y.sign * levers;
    sum.x += y.lever * signs;
  }
  return sum;
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
