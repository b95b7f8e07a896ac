// MsDeformAttn backward.
//
// First the gradients of locations and weights, which each sample has for itself: an item is a query and owns its rows;
// four dot products over the channels for each sample. Then grad_value:
// owner: a task owns some channels of a head of an image, and adds what all queries give to them in their order: the
// same bits for every number of threads. heads: the two in one walk, where each thread has a head.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ms_deform_attn/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/ms_deform_attn/gradients-inl.h"
#include "backends/cpu/scatter/scatter.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Channels that a task owns: a head's, or whole cache lines of sums where there are fewer heads than threads.
inline std::int64_t owned_channels(const Shape& s, const mluopsCall& call) {
  constexpr std::int64_t kLine = 16;
  const std::int64_t parts = ceil_div(call.threads, s.batch * s.heads);
  return std::min(s.channels, round_up(ceil_div(s.channels, parts), kLine));
}

inline double sample_ns(const Shape& s, double channel_ns) {
  return cost::kStep + 4 * channel_ns * static_cast<double>(s.channels);
}

/// The working block: `sums`, where the gradient can't be added to, of the owned channels of each thread.
template <class A>
struct BackwardArrays {
  SampleLevels<A> levels;
  SlotScratch<DotScratch<A>> scratch;
  A* sums;

  BackwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, std::int64_t sum_count)
      : levels(allocator, s), scratch(allocator, call.threads, s), sums(allocator.allocate<A>(sum_count)) {}
};

template <class T>
void all_sample_gradients(const Context& context, const mluopsCall& call, const BackwardProblem& p,
                          const BackwardArrays<Acc<T>>& arrays) {
  const Shape& s = p.shape;
  const std::int64_t step = s.heads * s.channels;
  const double query_ns = static_cast<double>(s.heads * s.levels * s.points) * sample_ns(s, cost::kMultiplyAdd);
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

/// A task: channels [first, first + count) of a head of an image.
struct HeadPart {
  std::int64_t image, head, first, count;
};

/// Its channels, added to `sums`, one key `step` from the next.
template <class T>
void add_queries(const BackwardProblem& p, const SampleLevels<Acc<T>>& levels, const HeadPart& part,
                 const Samples<Acc<T>>& samples, Acc<T>* sums, std::int64_t step) {
  const Shape& s = p.shape;
  for (std::int64_t key = 0; key < s.keys; ++key) std::fill_n(sums + key * step, part.count, Acc<T>{0});
  for (std::int64_t row = part.image * s.queries; row < (part.image + 1) * s.queries; ++row) {
    const HeadRow at(s, row, part.head);
    const T* const grad = static_cast<const T*>(p.grad_output) + at.output + part.first;
    find_samples<T>(p, levels, at.sample, samples);
    for_pixels(s, samples,
               [&](std::int64_t key, Acc<T> weight) HWY_ATTR { axpy(weight, grad, sums + key * step, part.count); });
  }
}

template <class T>
void value_by_owner(const Context& context, const mluopsCall& call, const BackwardProblem& p,
                    const BackwardArrays<Acc<T>>& arrays) {
  const Shape& s = p.shape;
  const std::int64_t owned = owned_channels(s, call), parts = ceil_div(s.channels, owned);
  const std::int64_t step = s.heads * s.channels;
  const double task_ns = static_cast<double>(s.queries * s.levels * s.points) *
                         (cost::kStep + 4 * cost::kMultiplyAdd * static_cast<double>(owned));
  const Loop loop(context, call, s.batch * s.heads * parts, task_ns);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const DotScratch<Acc<T>> scratch = arrays.scratch.of(slot, s);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % parts * owned;
      const HeadPart part{task / parts / s.heads, task / parts % s.heads, first, std::min(owned, s.channels - first)};
      T* const gradient =
          static_cast<T*>(p.grad_value) + part.image * s.keys * step + part.head * s.channels + part.first;
      if constexpr (kAddsInPlace<T>) {
        add_queries<T>(p, arrays.levels, part, scratch.samples, gradient, step);
      } else {
        Acc<T>* const sums = arrays.sums + slot * s.keys * owned;
        add_queries<T>(p, arrays.levels, part, scratch.samples, sums, part.count);
        for (std::int64_t key = 0; key < s.keys; ++key) {
          store_row(sums + key * part.count, gradient + key * step, part.count);
        }
      }
    }
  });
}

template <class T>
mluOpStatus_t both_parts(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t sums = kAddsInPlace<T> ? 0 : size_product(call.threads, s.keys, owned_channels(s, call));
  auto arrays = allocate<BackwardArrays<Acc<T>>>(context.arena, call, s, sums);
  if (!arrays) return no_memory(call);
  arrays->levels.fill(p);
  if (s.keys > 0) value_by_owner<T>(context, call, p, *arrays);
  if (samples_of(s) > 0) all_sample_gradients<T>(context, call, p, *arrays);
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
  arrays->levels.fill(p);
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
      for (std::int64_t row = image * s.queries; row < (image + 1) * s.queries; ++row) {
        const HeadRow at(s, row, head);
        const T* const grad = static_cast<const T*>(p.grad_output) + at.output;
        const HeadRow later(s, std::min(row + kQueriesAhead, (image + 1) * s.queries - 1), head);
        prefetch_samples<T>(p, later.sample);
        prefetch<2>(value_barrier(static_cast<const T*>(p.grad_output) + later.output), s.channels);
        find_samples<T>(p, arrays->levels, at.sample, scratch.samples);
        walk_head<T>(s, grad, scratch, values, sums);
        store_sample_gradients<T>(p, arrays->levels, at, scratch);
      }
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
