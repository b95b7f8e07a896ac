// Gradients of the samples of a head of a query: the dot products of its gradient with the channels of their pixels;
// and the walk that adds to these pixels' sums on the way. Include after foreach_target.h, like simd-inl.h.
#include <algorithm>

#include "backends/cpu/kernels/ms_deform_attn/samples-inl.h"
#include "backends/cpu/sampling/four_pixels-inl.h"

#if defined(MLUOPS_CPU_MS_DEFORM_ATTN_GRADIENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_MS_DEFORM_ATTN_GRADIENTS_INL_H_
#else
#define MLUOPS_CPU_MS_DEFORM_ATTN_GRADIENTS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE {

using BackwardProblem = mluopsMsDeformAttnBackwardProblem;

/// What a thread has.
template <class A>
struct DotScratch {
  Samples<A> samples;
  A* dot[4];  ///< of the gradient with the channels of a sample's pixels

  DotScratch(Allocator& allocator, const Shape& s) : samples(allocator, s) {
    for (A*& d : dot) d = allocator.allocate<A>(samples.padded);
  }
};

/// Dot products of `grad` with the channels of the four pixels of sample i; 0 for those off the map.
template <class T, class E>
HWY_INLINE void dot_sample(const T* grad, const E* head, std::int64_t step, std::int64_t n, std::int64_t i,
                           const DotScratch<Acc<T>>& scratch) {
  const E* rows[4];
  for (int k = 0; k < 4; ++k) rows[k] = head + std::max(scratch.samples.key[k][i], 0) * step;
  Acc<T> dots[4];
  dot_rows(grad, rows, n, dots);
  for (int k = 0; k < 4; ++k) scratch.dot[k][i] = scratch.samples.key[k][i] >= 0 ? dots[k] : Acc<T>{0};
}

/// A vector of samples, from i on: gradients in the place of locations and weights.
template <class D, class A = hn::TFromD<D>>
HWY_INLINE void gradients_of_dots(D d, const SampleLevels<A>& levels, std::int64_t i, const DotScratch<A>& scratch) {
  const Samples<A>& q = scratch.samples;
  const auto one = hn::Set(d, A{1}), up = hn::LoadU(d, q.up + i), left = hn::LoadU(d, q.left + i);
  const auto on_map = hn::Gt(hn::LoadU(d, q.on_map + i), hn::Zero(d));
  const auto weight = hn::LoadU(d, q.attn + i);
  hn::Vec<D> dot[4];
  auto sum = hn::Zero(d);
  MLUOPS_UNROLL
  for (int k = 0; k < 4; ++k) {
    dot[k] = hn::LoadU(d, scratch.dot[k] + i);
    sum = hn::MulAdd(hn::LoadU(d, q.weight[k] + i), dot[k], sum);
  }
  const auto across = hn::MulAdd(up, hn::Sub(dot[3], dot[2]), hn::Mul(hn::Sub(one, up), hn::Sub(dot[1], dot[0])));
  const auto down = hn::MulAdd(left, hn::Sub(dot[3], dot[1]), hn::Mul(hn::Sub(one, left), hn::Sub(dot[2], dot[0])));
  const auto x = hn::Mul(hn::Mul(hn::LoadU(d, levels.w + i), weight), across);
  const auto y = hn::Mul(hn::Mul(hn::LoadU(d, levels.h + i), weight), down);
  hn::StoreInterleaved2(hn::IfThenElseZero(on_map, x), hn::IfThenElseZero(on_map, y), d, q.loc + 2 * i);
  hn::StoreU(hn::IfThenElseZero(on_map, sum), d, q.attn + i);
}

/// Where a head of a query has its elements.
struct HeadRow {
  std::int64_t output, sample;

  HeadRow(const Shape& s, std::int64_t row, std::int64_t head)
      : output((row * s.heads + head) * s.channels), sample((row * s.heads + head) * samples_of(s)) {}
};

/// The gradients of the samples of a head of a query, of which the dot products are known.
template <class T>
void store_sample_gradients(const BackwardProblem& p, const SampleLevels<Acc<T>>& levels, const HeadRow& at,
                            const DotScratch<Acc<T>>& scratch) {
  const std::int64_t count = samples_of(p.shape);
  const FullTag<T> d;
  for (std::int64_t i = 0; i < count; i += kLanes<Acc<T>>) gradients_of_dots(d, levels, i, scratch);
  store_row(scratch.samples.loc, static_cast<T*>(p.grad_sampling_loc) + 2 * at.sample, 2 * count);
  store_row(scratch.samples.attn, static_cast<T*>(p.grad_attn_weight) + at.sample, count);
}

/// Gradients of the samples of a head of a query, which were found; `value`: channels of the head's first key, which is
/// readable, one key `step` from the next.
template <class T, class E>
void sample_gradients(const BackwardProblem& p, const SampleLevels<Acc<T>>& levels, const HeadRow& at, const E* value,
                      std::int64_t step, const DotScratch<Acc<T>>& scratch) {
  const Shape& s = p.shape;
  const std::int64_t count = samples_of(s);
  const T* const grad = static_cast<const T*>(p.grad_output) + at.output;
  for (std::int64_t i = 0; i < count; ++i) dot_sample(grad, value, step, s.channels, i, scratch);
  store_sample_gradients<T>(p, levels, at, scratch);
}

/// add(key, weight) for the pixels under samples that were found.
template <class A, class Add>
HWY_INLINE void for_pixels(const Shape& s, const Samples<A>& samples, Add&& add) {
  for (std::int64_t i = 0; i < samples_of(s); ++i) {
    for (int k = 0; k < 4; ++k) {
      if (samples.key[k][i] >= 0) add(samples.key[k][i], samples.weight[k][i] * samples.attn[i]);
    }
  }
}

/// Both for a head of kWide whole vectors, which lie side by side: the gradient stays in registers, a pixel's value and
/// sum are touched at one time.
template <int kWide, class T>
HWY_INLINE void walk_samples(const T* grad, std::int64_t count, const DotScratch<Acc<T>>& scratch, const Acc<T>* values,
                             Acc<T>* sums) {
  using A = Acc<T>;
  const hn::ScalableTag<A> d;
  const Samples<A>& samples = scratch.samples;
  hn::Vec<decltype(d)> g[kWide];
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) g[v] = load(d, grad + v * kLanes<A>);
  for (std::int64_t i = 0; i < count; ++i) {
    hn::Vec<decltype(d)> dot[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    MLUOPS_UNROLL
    for (int k = 0; k < 4; ++k) {
      const std::int64_t key = samples.key[k][i];
      if (key < 0) continue;
      const auto weight = hn::Set(d, samples.weight[k][i] * samples.attn[i]);
      const A* const value = values + key * (kWide * kLanes<A>);
      A* const sum = sums + key * (kWide * kLanes<A>);
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) {
        dot[k] = hn::MulAdd(g[v], hn::LoadU(d, value + v * kLanes<A>), dot[k]);
        hn::StoreU(hn::MulAdd(weight, g[v], hn::LoadU(d, sum + v * kLanes<A>)), d, sum + v * kLanes<A>);
      }
    }
    A dots[4];
    sum_4_vectors(d, dot[0], dot[1], dot[2], dot[3], dots);
    for (int k = 0; k < 4; ++k) scratch.dot[k][i] = dots[k];
  }
}

template <class T>
HWY_INLINE void walk_head(const Shape& s, const T* grad, const DotScratch<Acc<T>>& scratch, const Acc<T>* values,
                          Acc<T>* sums) {
  const std::int64_t count = samples_of(s);
  switch (s.channels) {
    case kLanes<Acc<T>>:
      return walk_samples<1>(grad, count, scratch, values, sums);
    case 2 * kLanes<Acc<T>>:
      return walk_samples<2>(grad, count, scratch, values, sums);
    case 4 * kLanes<Acc<T>>:
      return walk_samples<4>(grad, count, scratch, values, sums);
    default:
      for_pixels(s, scratch.samples, [&](std::int64_t key, Acc<T> weight) HWY_ATTR {
        axpy(weight, grad, sums + key * s.channels, s.channels);
      });
      for (std::int64_t i = 0; i < count; ++i) dot_sample(grad, values, s.channels, s.channels, i, scratch);
  }
}

}  // namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
