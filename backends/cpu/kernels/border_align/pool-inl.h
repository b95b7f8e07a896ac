// The greatest point of a border, some vectors of channels at a time (border_align forward).
#include "backends/cpu/kernels/border_align/points-inl.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_BORDER_ALIGN_POOL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_POOL_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_POOL_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Some vectors of channels of a line, and how far away those of the next line are.
template <class A>
struct Block {
  const A* packed;
  std::int64_t next;
};

/// The points of one border, one after the other.
template <class A>
struct PointRun {
  const A* HWY_RESTRICT weights;
  const std::int32_t* HWY_RESTRICT pixels;

  HWY_INLINE std::int64_t pixel(std::int64_t i) const { return pixels[i]; }
  template <class D>
  HWY_INLINE hn::Vec<D> high(D d, std::int64_t i) const {
    return hn::Set(d, weights[i]);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> low(D d, std::int64_t i) const {
    return hn::Sub(hn::Set(d, A{1}), high(d, i));
  }
};

/// The greatest of `count` points of one border, and which it is, for kVectors vectors of channels of pixels of `pitch`
/// elements: sink(vector, value, index).
template <int kVectors, class D, class Points, class Sink, class A = hn::TFromD<D>>
HWY_INLINE void pool_points(D d, const Points& points, std::int64_t count, LineBlend<A> blend, Block<A> block,
                            std::int64_t pitch, Sink&& sink) {
  const IndexTag<D> di;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const A* const near = block.packed + (blend.next_is_near ? block.next : 0);
  const std::int64_t far = blend.next_is_near ? -block.next : block.next;
  const auto ratio = hn::Set(d, blend.ratio);
  const auto evaluate = [&](std::int64_t i, hn::Vec<D>* value) HWY_ATTR {
    const A* const pixel = near + points.pixel(i) * pitch;
    const auto high = points.high(d, i), low = points.low(d, i);
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const A* const before = pixel + v * lanes;
      const A* const after = before + pitch;
      const auto r0 = hn::MulAdd(ratio, hn::LoadU(d, before + far), hn::LoadU(d, before));
      const auto r1 = hn::MulAdd(ratio, hn::LoadU(d, after + far), hn::LoadU(d, after));
      value[v] = hn::MulAdd(high, r1, hn::Mul(low, r0));
    }
  };
  hn::Vec<D> greatest[kVectors];
  hn::Vec<IndexTag<D>> where[kVectors];
  evaluate(0, greatest);
  MLUOPS_UNROLL
  for (int v = 0; v < kVectors; ++v) where[v] = hn::Zero(di);
  // Strictly greater: the first of equals wins, and NaN stays where it comes first and nowhere else.
  auto index = hn::Zero(di);
  for (std::int64_t i = 1; i < count; ++i) {
    hn::Vec<D> candidate[kVectors];
    evaluate(i, candidate);
    index = hn::Add(index, hn::Set(di, 1));
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const auto more = hn::Gt(candidate[v], greatest[v]);
      greatest[v] = hn::IfThenElse(more, candidate[v], greatest[v]);
      where[v] = hn::IfThenElse(hn::RebindMask(di, more), index, where[v]);
    }
  }
  MLUOPS_UNROLL
  for (int v = 0; v < kVectors; ++v) sink(v, hn::Mul(greatest[v], hn::Set(d, blend.scale)), where[v]);
}

/// Some channels of one border: greatest value and its point.
template <int kVectors, class D, class T, class A = Acc<T>>
HWY_INLINE void pool_channels(bool non_temporal, D d, const A* HWY_RESTRICT weights,
                              const std::int32_t* HWY_RESTRICT pixels, std::int64_t count, LineBlend<A> blend,
                              Block<A> block, T* HWY_RESTRICT output, std::int32_t* HWY_RESTRICT argmax) {
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  pool_points<kVectors>(d, PointRun<A>{weights, pixels}, count, blend, block, kVectors * lanes,
                        [&](int v, hn::Vec<D> value, hn::Vec<IndexTag<D>> index) HWY_ATTR {
                          store(non_temporal, value, d, output + v * lanes);
                          store_index(non_temporal, index, d, argmax + v * lanes);
                        });
}

/// Prefetches the cache lines of elements that are written soon.
template <std::int64_t kCount, class E>
HWY_INLINE void prefetch_to_write(E* at) {
  constexpr std::int64_t step = 64 / sizeof(E);
  for (std::int64_t i = 0; i < kCount; i += step) __builtin_prefetch(at + i, 1);
}

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
