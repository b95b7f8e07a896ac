// MsDeformAttn backward.
//
// First the gradients of locations and weights, which each sample has for itself: an item is a query and owns its rows;
// four dot products over the channels for each sample. Then grad_value:
// owner: a task owns some keys of a head of an image, and adds what all queries give to them in their order: the same
// bits for every number of threads. heads: the two in one walk, where each thread has a head.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ms_deform_attn/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/ms_deform_attn/samples-inl.h"
#include "backends/cpu/kernels/ms_deform_attn/value_owner-inl.h"
#include "backends/cpu/sampling/four_pixels-inl.h"
#include "backends/cpu/scatter/scatter.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Scratch of a thread.
template <class A>
struct DotScratch {
  Samples<A> samples;
  A* dot[4];  ///< of the gradient with the channels of a sample's pixels

  DotScratch(Allocator& allocator, const Shape& s) : samples(allocator, samples_of(s)) {
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

/// For a head of kWide whole vectors, which lie side by side: the gradient stays in registers. kAdds: a pixel's value
/// and sum are touched at one time; otherwise only the dot products are made.
template <int kWide, bool kAdds, class T>
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
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) {
        dot[k] = hn::MulAdd(g[v], hn::LoadU(d, value + v * kLanes<A>), dot[k]);
        if constexpr (kAdds) {
          A* const sum = sums + (key * kWide + v) * kLanes<A>;
          hn::StoreU(hn::MulAdd(weight, g[v], hn::LoadU(d, sum)), d, sum);
        }
      }
    }
    A dots[4];
    sum_4_vectors(d, dot[0], dot[1], dot[2], dot[3], dots);
    for (int k = 0; k < 4; ++k) scratch.dot[k][i] = dots[k];
  }
}

template <bool kAdds, class T>
HWY_INLINE void walk_head(const Shape& s, const T* grad, const DotScratch<Acc<T>>& scratch, const Acc<T>* values,
                          Acc<T>* sums) {
  const std::int64_t count = samples_of(s);
  switch (s.channels) {
    case kLanes<Acc<T>>:
      return walk_samples<1, kAdds>(grad, count, scratch, values, sums);
    case 2 * kLanes<Acc<T>>:
      return walk_samples<2, kAdds>(grad, count, scratch, values, sums);
    case 4 * kLanes<Acc<T>>:
      return walk_samples<4, kAdds>(grad, count, scratch, values, sums);
    default:
      if constexpr (kAdds) {
        for_pixels(s, scratch.samples, [&](std::int64_t key, Acc<T> weight) HWY_ATTR {
          axpy(weight, grad, sums + key * s.channels, s.channels);
        });
      }
      for (std::int64_t i = 0; i < count; ++i) dot_sample(grad, values, s.channels, s.channels, i, scratch);
  }
}

/// Queries [begin, end) of a head, of which the values and, with kAdds, the sums of all keys lie side by side: the
/// gradients of their samples, and what they give to the keys.
template <bool kAdds, class T>
HWY_INLINE void walk_queries(const BackwardProblem& p, const SampleLevels<Acc<T>>& levels, std::int64_t head,
                             std::int64_t begin, std::int64_t end, const DotScratch<Acc<T>>& scratch,
                             const Acc<T>* values, Acc<T>* sums) {
  const Shape& s = p.shape;
  for (std::int64_t row = begin; row < end; ++row) {
    const HeadRow at(s, row, head), later(s, std::min(row + kQueriesAhead, end - 1), head);
    prefetch_samples<T>(p, later.sample);
    prefetch<2>(value_barrier(static_cast<const T*>(p.grad_output) + later.output), s.channels);
    find_samples<T>(p, levels, at.sample, scratch.samples);
    walk_head<kAdds, T>(s, static_cast<const T*>(p.grad_output) + at.output, scratch, values, sums);
    store_sample_gradients<T>(p, levels, at, scratch);
  }
}

/// The working block: `sums` of each thread.
template <class A>
struct BackwardArrays {
  SampleLevels<A> levels;
  SlotScratch<DotScratch<A>> scratch;
  A* sums;

  BackwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, std::int64_t sum_count)
      : levels(allocator, samples_of(s)), scratch(allocator, call.threads, s), sums(allocator.allocate<A>(sum_count)) {}
};

template <class T>
void all_sample_gradients(const Context& context, const mluopsCall& call, const BackwardProblem& p,
                          const BackwardArrays<Acc<T>>& arrays) {
  const Shape& s = p.shape;
  const std::int64_t step = s.heads * s.channels;
  const double query_ns = static_cast<double>(s.heads * samples_of(s)) * sample_ns(s, cost::kMultiplyAdd);
  Loop(context, call, s.batch * s.queries, query_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const DotScratch<Acc<T>> scratch = arrays.scratch.of(slot, s);
    for (std::int64_t row = begin; row < end; ++row) {
      const T* const values = s.keys == 0 ? static_cast<const T*>(p.grad_output)
                                          : static_cast<const T*>(p.value) + row / s.queries * s.keys * step;
      for (std::int64_t head = 0; head < s.heads; ++head) {
        const HeadRow at(s, row, head);
        find_samples<T>(p, arrays.levels, at.sample, scratch.samples);
        sample_gradients<T>(p, arrays.levels, at, values + head * s.channels, step, scratch);
      }
    }
  });
}

/// panels[image][head][key][channel] = value[image][key][head][channel].
template <class T>
void fill_heads(const Context& context, const mluopsCall& call, const BackwardProblem& p, Acc<T>* panels) {
  const Shape& s = p.shape;
  const std::int64_t row = s.heads * s.channels, panel = s.keys * s.channels;
  Loop(context, call, s.batch * s.keys, cost::kMoveByte * static_cast<double>(row * sizeof(T)))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t i = begin; i < end; ++i) {
          const T* const from = static_cast<const T*>(p.value) + i * row;
          Acc<T>* const to = panels + i / s.keys * s.heads * panel + i % s.keys * s.channels;
          for (std::int64_t head = 0; head < s.heads; ++head) {
            load_row(from + head * s.channels, to + head * panel, s.channels);
          }
        }
      });
}

/// What all_sample_gradients does, for pixels that are read often: head by head, with all pixels of a head side by side
/// in arrays.sums.
template <class T>
void sample_gradients_of_heads(const Context& context, const mluopsCall& call, const BackwardProblem& p,
                               const BackwardArrays<Acc<T>>& arrays) {
  constexpr std::int64_t kQueries = 128;
  const Shape& s = p.shape;
  fill_heads<T>(context, call, p, arrays.sums);
  const std::int64_t parts = ceil_div(s.queries, kQueries);
  const double part_ns = static_cast<double>(kQueries * samples_of(s)) * sample_ns(s, cost::kMultiplyAdd);
  Loop(context, call, s.batch * s.heads * parts, part_ns)
      .run([&](std::int64_t first, std::int64_t last, int slot) HWY_ATTR {
        const DotScratch<Acc<T>> scratch = arrays.scratch.of(slot, s);
        for (std::int64_t task = first; task < last; ++task) {
          const std::int64_t panel = task / parts, image = panel / s.heads, begin = task % parts * kQueries;
          const std::int64_t end = std::min(begin + kQueries, s.queries);
          walk_queries<false, T>(p, arrays.levels, panel % s.heads, image * s.queries + begin, image * s.queries + end,
                                 scratch, arrays.sums + panel * s.keys * s.channels, nullptr);
        }
      });
}

template <class T>
mluOpStatus_t both_parts(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  if (s.keys > 0 && !value_by_owner<T>(context, call, p)) return no_memory(call);
  if (samples_of(s) == 0) return MLUOP_STATUS_SUCCESS;
  const std::int64_t panels = reads_often(s) ? size_product(s.batch, s.heads, s.keys, s.channels) : 0;
  auto arrays = allocate<BackwardArrays<Acc<T>>>(context.arena, call, s, panels);
  if (!arrays) return no_memory(call);
  arrays->levels.fill(p, 0, samples_of(s));
  if (reads_often(s)) {
    sample_gradients_of_heads<T>(context, call, p, *arrays);
  } else {
    all_sample_gradients<T>(context, call, p, *arrays);
  }
  return MLUOP_STATUS_SUCCESS;
}

/// Items are heads of images: values and sums of all keys side by side, each sample is found once.
template <class T>
mluOpStatus_t by_heads(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t panel_size = s.keys * s.channels, row_elements = s.heads * s.channels;
  auto arrays = allocate<BackwardArrays<A>>(context.arena, call, s, size_product(2, call.threads, s.keys, s.channels));
  if (!arrays) return no_memory(call);
  arrays->levels.fill(p, 0, samples_of(s));
  const double head_ns = static_cast<double>(s.queries * samples_of(s)) * 2 * sample_ns(s, cost::kMultiplyAdd);
  Loop(context, call, s.batch * s.heads, head_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const DotScratch<A> scratch = arrays->scratch.of(slot, s);
    A* const values = arrays->sums + 2 * slot * panel_size;
    A* const sums = values + panel_size;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t image = i / s.heads, head = i % s.heads;
      const std::int64_t first = image * s.keys * row_elements + head * s.channels;
      fill_head(s, static_cast<const T*>(p.value) + first, values);
      std::fill_n(sums, panel_size, A{0});
      walk_queries<true, T>(p, arrays->levels, head, image * s.queries, (image + 1) * s.queries, scratch, values, sums);
      for (std::int64_t key = 0; key < s.keys; ++key) {
        store_row(sums + key * s.channels, static_cast<T*>(p.grad_value) + first + key * row_elements, s.channels);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

Fit heads_apply(const Context&, const mluopsCall& call, const BackwardProblem& p) {
  return fit(p.shape.keys > 0 && samples_of(p.shape) > 0, reads_often(p.shape) && enough_heads(p.shape, call.threads));
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  static constexpr Path<BackwardProblem> kPaths[] = {
      {"heads", heads_apply, by_heads<T>},
      {"owner", always<BackwardProblem>, both_parts<T>},
  };
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(ms_deform_attn_backward, ms_deform_attn, backward, mluopsMsDeformAttnBackwardProblem, with_element)
