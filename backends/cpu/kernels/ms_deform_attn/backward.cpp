// MsDeformAttn backward.
//
// First the gradients of locations and weights, which each sample has for itself: an item is a query and owns its rows;
// four dot products over the channels for each sample. Then grad_value:
// owner: a task owns some channels of a head of an image, and adds what all queries give to them in their order: the
// same bits for every number of threads. atomic: a task owns queries and adds to the whole of grad_value.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ms_deform_attn/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/ms_deform_attn/samples-inl.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/sampling/four_pixels-inl.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"
#include "common/shape.h"

#ifndef MLUOPS_CPU_MS_DEFORM_ATTN_BACKWARD_ONCE_
#define MLUOPS_CPU_MS_DEFORM_ATTN_BACKWARD_ONCE_
namespace mluops::cpu::ms_deform_attn {

/// Channels that a task owns: a head's, or whole cache lines of sums where there are fewer heads than threads.
inline std::int64_t owned_channels(const Shape& s, const mluopsCall& call) {
  constexpr std::int64_t kLine = 16;
  const std::int64_t parts = ceil_div(call.threads, s.batch * s.heads);
  return std::min(s.channels, round_up(ceil_div(s.channels, parts), kLine));
}

inline double sample_ns(const Shape& s, double channel_ns) {
  return kSampleNs + 4 * channel_ns * static_cast<double>(s.channels);
}

}  // namespace mluops::cpu::ms_deform_attn
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsMsDeformAttnBackwardProblem;

// ---- locations and weights -------------------------------------------------------------------

/// One head of a query.
template <class T>
void sample_gradients(const BackwardProblem& p, std::int64_t row, std::int64_t head) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t step = s.heads * s.channels, at = row * step + head * s.channels;
  const T* const grad = static_cast<const T*>(p.grad_output) + at;
  const T* const value = static_cast<const T*>(p.value) + row / s.queries * s.keys * step + head * s.channels;
  T* const grad_loc = static_cast<T*>(p.grad_sampling_loc);
  T* const grad_weight = static_cast<T*>(p.grad_attn_weight);
  for_samples<T>(
      p, (row * s.heads + head) * s.levels * s.points,
      [&](const Level& level, const Sample<A>& q, std::int64_t i) HWY_ATTR {
        A dot[4];
        const T* pixels[4];
        for (std::size_t k = 0; k < 4; ++k) pixels[k] = q.on_map[k] ? value + q.pixel[k] * step : grad;
        dot_pixels(grad, pixels, q, s.channels, dot);
        const SampleSlopes<A> slopes(q, dot);
        const A weight = to_acc(static_cast<const T*>(p.attn_weight)[i]);
        grad_loc[2 * i] = from_acc<T>(static_cast<A>(level.w) * weight * slopes.across);
        grad_loc[2 * i + 1] = from_acc<T>(static_cast<A>(level.h) * weight * slopes.down);
        grad_weight[i] = from_acc<T>(slopes.weight);
      },
      [&](std::int64_t i) { grad_loc[2 * i] = grad_loc[2 * i + 1] = grad_weight[i] = T{}; });
}

template <class T>
void all_sample_gradients(const Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const double query_ns = static_cast<double>(s.heads * s.levels * s.points) * sample_ns(s, kChannelNs);
  Loop(context, call, s.batch * s.queries, query_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t head = 0; head < s.heads; ++head) sample_gradients<T>(p, row, head);
    }
  });
}

// ---- value -----------------------------------------------------------------------------------

/// add(key, weight) for the pixels under the samples of a head of a query.
template <class T, class Add>
HWY_INLINE void for_pixels(const BackwardProblem& p, std::int64_t row, std::int64_t head, Add&& add) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  for_samples<T>(
      p, (row * s.heads + head) * s.levels * s.points,
      [&](const Level&, const Sample<A>& q, std::int64_t i) HWY_ATTR {
        const A weight = to_acc(static_cast<const T*>(p.attn_weight)[i]);
        for (std::size_t k = 0; k < 4; ++k) {
          if (q.on_map[k]) add(q.pixel[k], q.weight[k] * weight);
        }
      },
      [](std::int64_t) {});
}

/// Channels [first, first + count) of a head of an image, added to `sums`, one key `step` from the next.
template <class T>
void add_queries(const BackwardProblem& p, std::int64_t image, std::int64_t head, std::int64_t first,
                 std::int64_t count, Acc<T>* sums, std::int64_t step) {
  const Shape& s = p.shape;
  for (std::int64_t key = 0; key < s.keys; ++key) std::fill_n(sums + key * step, count, Acc<T>{0});
  for (std::int64_t row = image * s.queries; row < (image + 1) * s.queries; ++row) {
    const T* const grad = static_cast<const T*>(p.grad_output) + (row * s.heads + head) * s.channels + first;
    for_pixels<T>(p, row, head,
                  [&](std::int64_t key, Acc<T> weight) HWY_ATTR { axpy(weight, grad, sums + key * step, count); });
  }
}

template <class T>
mluOpStatus_t value_by_owner(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t owned = owned_channels(s, call), parts = ceil_div(s.channels, owned);
  const double task_ns =
      static_cast<double>(s.queries * s.levels * s.points) * (kSampleNs + 4 * kChannelNs * static_cast<double>(owned));
  const Loop loop(context, call, s.batch * s.heads * parts, task_ns);
  A* rooms = nullptr;
  if constexpr (!kAddsInPlace<T>) {
    rooms = context.arena.reserve_array<A>(loop.slots(), s.keys, owned);
    if (rooms == nullptr) return no_memory(call);
  }
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % parts * owned, count = std::min(owned, s.channels - first);
      const std::int64_t head = task / parts % s.heads, image = task / parts / s.heads, step = s.heads * s.channels;
      T* const gradient = static_cast<T*>(p.grad_value) + image * s.keys * step + head * s.channels + first;
      if constexpr (kAddsInPlace<T>) {
        add_queries<T>(p, image, head, first, count, gradient, step);
      } else {
        A* const sums = rooms + slot * s.keys * owned;
        add_queries<T>(p, image, head, first, count, sums, count);
        for (std::int64_t key = 0; key < s.keys; ++key) store_row(sums + key * count, gradient + key * step, count);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t value_by_atomics(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t row_elements = s.heads * s.channels, elements = s.batch * s.keys * row_elements;
  T* const gradient = static_cast<T*>(p.grad_value);
  A* const sums = reserve_sums<T>(context, gradient, elements);
  if (sums == nullptr) return no_memory(call);
  clear_sums(context, call, sums, elements);
  const double query_ns = static_cast<double>(s.heads * s.levels * s.points) * sample_ns(s, cost::kAtomicAdd);
  Loop(context, call, s.batch * s.queries, query_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t head = 0; head < s.heads; ++head) {
        const T* const grad = static_cast<const T*>(p.grad_output) + (row * s.heads + head) * s.channels;
        A* const to = sums + row / s.queries * s.keys * row_elements + head * s.channels;
        for_pixels<T>(p, row, head, [&](std::int64_t key, A weight) {
          for (std::int64_t c = 0; c < s.channels; ++c)
            atomic_add(to + key * row_elements + c, weight * to_acc(grad[c]));
        });
      }
    }
  });
  store_sums<T>(context, call, sums, gradient, elements);
  return MLUOP_STATUS_SUCCESS;
}

template <class T, bool atomic>
mluOpStatus_t both_parts(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  if (p.shape.keys > 0) {
    const mluOpStatus_t status = atomic ? value_by_atomics<T>(context, call, p) : value_by_owner<T>(context, call, p);
    if (status != MLUOP_STATUS_SUCCESS) return status;
  }
  if (p.shape.levels * p.shape.points > 0) all_sample_gradients<T>(context, call, p);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  static constexpr Path<BackwardProblem> kPaths[] = {
      {kAtomicPath, atomic_applies<BackwardProblem>, both_parts<T, true>},
      {"owner", always<BackwardProblem>, both_parts<T, false>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(backward, mluopsMsDeformAttnBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(ms_deform_attn_backward, ms_deform_attn, backward, mluopsMsDeformAttnBackwardProblem)

}  // namespace mluops::cpu
#endif
