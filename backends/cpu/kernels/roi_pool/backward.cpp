// RoiPooling backward: the gradient of each bin goes to the pixel that argmax names.
//
// grad_output and argmax [R,PH,PW,C], grad_input [B,H,W,C]. One addition for each element read: bound by memory.
// owner: a task owns neighbouring channels of an image and adds all its RoIs to them in their order: the same bits for
// every number of threads. atomic: a task owns RoIs and adds to the whole map.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_pool/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_pool/geometry.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiPoolBackwardProblem;

/// add(pixel, channel, value) for the elements of channels [first, end) of a RoI that have a pixel.
template <class T, class Add>
HWY_INLINE void add_roi(const BackwardProblem& p, std::int64_t roi, std::int64_t first, std::int64_t end, Add&& add) {
  const Shape& s = p.shape;
  const auto* const grad = static_cast<const T*>(p.grad_output);
  const std::int64_t bins = s.pooled_h * s.pooled_w, pixels = s.h * s.w;
  for (std::int64_t bin = roi * bins; bin < (roi + 1) * bins; ++bin) {
    for (std::int64_t c = first; c < end; ++c) {
      const std::int64_t pixel = p.argmax[bin * s.c + c];
      if (pixel >= 0 && pixel < pixels) add(pixel, c, to_acc(grad[bin * s.c + c]));
    }
  }
}

template <class T>
std::int64_t image_of(const BackwardProblem& p, std::int64_t roi) {
  return static_cast<std::int64_t>(to_acc(static_cast<const T*>(p.rois)[5 * roi]));
}

/// Channels that a task owns: whole cache lines of every pixel.
std::int64_t owned_channels(const Shape& s, const mluopsCall& call) {
  constexpr std::int64_t kLine = 16;
  return std::clamp<std::int64_t>(round_up(ceil_div(s.c * s.batch, 2 * call.threads), kLine), kLine, 16 * kLine);
}

/// One task: channels [first, end) of an image; `sums`, [h*w, end - first], where the gradient can't be added to.
template <class T>
void add_channels(const BackwardProblem& p, std::int64_t image, std::int64_t first, std::int64_t end, Acc<T>* sums) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  T* const gradient = static_cast<T*>(p.grad_input) + image * s.h * s.w * s.c + first;
  std::int64_t step = end - first;
  A* to = sums;
  if constexpr (kAddsInPlace<T>) to = gradient, step = s.c;
  for (std::int64_t pixel = 0; pixel < s.h * s.w; ++pixel) std::fill_n(to + pixel * step, end - first, A{0});
  for (std::int64_t roi = 0; roi < s.rois; ++roi) {
    if (image_of<T>(p, roi) != image) continue;
    add_roi<T>(p, roi, first, end,
               [&](std::int64_t pixel, std::int64_t c, A value) { to[pixel * step + c - first] += value; });
  }
  if constexpr (!kAddsInPlace<T>) {
    for (std::int64_t pixel = 0; pixel < s.h * s.w; ++pixel) {
      store_row(sums + pixel * step, gradient + pixel * s.c, step);
    }
  }
}

template <class T>
mluOpStatus_t by_owner(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t owned = owned_channels(s, call), groups = ceil_div(s.c, owned);
  const auto bins = static_cast<double>(s.rois * s.pooled_h * s.pooled_w) / static_cast<double>(s.batch);
  const double task_ns =
      static_cast<double>(owned) * (cost::kScatter * bins + cost::kMove * static_cast<double>(s.h * s.w));
  const Loop loop(context, call, s.batch * groups, task_ns);
  const std::int64_t sum_count = kAddsInPlace<T> ? 0 : s.h * s.w * owned;
  A* all = nullptr;
  if constexpr (!kAddsInPlace<T>) {
    all = reinterpret_cast<A*>(context.arena.reserve(loop.slots() * sum_count * static_cast<std::int64_t>(sizeof(A))));
    if (all == nullptr) return no_memory(call);
  }
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % groups * owned;
      A* const sums = all == nullptr ? nullptr : all + slot * sum_count;
      add_channels<T>(p, task / groups, first, std::min(s.c, first + owned), sums);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t by_atomics(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t elements = s.batch * s.h * s.w * s.c;
  T* const gradient = static_cast<T*>(p.grad_input);
  A* const sums = reserve_sums<T>(context, gradient, elements);
  if (sums == nullptr) return no_memory(call);
  clear_sums(context, call, sums, elements);
  const double roi_ns = cost::kAtomicAdd * static_cast<double>(s.pooled_h * s.pooled_w * s.c);
  Loop(context, call, s.rois, roi_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t roi = begin; roi < end; ++roi) {
      A* const image = sums + image_of<T>(p, roi) * s.h * s.w * s.c;
      add_roi<T>(p, roi, 0, s.c,
                 [&](std::int64_t pixel, std::int64_t c, A value) { atomic_add(image + pixel * s.c + c, value); });
    }
  });
  store_sums<T>(context, call, sums, gradient, elements);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  static constexpr Path<BackwardProblem> kPaths[] = {
      {kAtomicPath, atomic_applies<BackwardProblem>, by_atomics<T>},
      {"owner", always<BackwardProblem>, by_owner<T>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(backward, mluopsRoiPoolBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(roi_pool_backward, roi_pool, backward, mluopsRoiPoolBackwardProblem)

}  // namespace mluops::cpu
#endif
