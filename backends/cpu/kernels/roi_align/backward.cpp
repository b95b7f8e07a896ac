// RoiAlign backward: each bin's gradient goes to the pixels its samples read.
//
// owner: a task owns some channels of an image, sums what all RoIs of the image give to them, in the order of the RoIs,
// and writes them once: no atomics, the same bits for every number of threads. Channels first, these are planes, which
// stay in the second cache (planes-inl.h); channels last, a block of neighbouring channels of every pixel.
// atomic: a task owns rows of bins and adds to the whole map.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_align/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_align/geometry.h"
#include "backends/cpu/kernels/roi_align/planes-inl.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"

#ifndef MLUOPS_CPU_ROI_ALIGN_BACKWARD_ONCE_
#define MLUOPS_CPU_ROI_ALIGN_BACKWARD_ONCE_
namespace mluops::cpu::roi_align {

/// Cost in nanoseconds of adding to one channel of one pixel.
constexpr double kAddNs = 0.1;

/// Neighbouring channels that a task owns: a plane, or whole cache lines of every pixel.
inline std::int64_t owned_channels(const Shape& s, mluOpTensorLayout_t layout, const mluopsCall& call) {
  if (layout == MLUOP_LAYOUT_NCHW) return 1;
  constexpr std::int64_t kLine = 16;
  return std::clamp<std::int64_t>(round_up(ceil_div(s.c * s.batch, 2 * call.threads), kLine), kLine, 16 * kLine);
}

/// The working block; `sums`: where the gradient itself can't be added to, what is: the owned channels of each thread,
/// or all.
template <class A>
struct BackwardArrays {
  RoiTable<A> rois;
  PlaneRooms<A> rooms;
  std::int64_t sum_count;
  A* sums;

  BackwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, mluOpTensorLayout_t layout, bool atomic,
                 bool in_place)
      : rois(allocator, s), rooms(allocator, call, s, s.mean != 0 && layout == MLUOP_LAYOUT_NCHW && !atomic) {
    sum_count = in_place ? 0 : s.h * s.w * (atomic ? s.batch * s.c : owned_channels(s, layout, call));
    sums = allocator.allocate<A>(sum_count * (atomic ? 1 : call.threads));
  }
};

/// What is added to: channel c of pixel i is at first + i * pixel + c * channel.
template <class A>
struct Sums {
  A* first;
  std::int64_t pixel, channel;
};

}  // namespace mluops::cpu::roi_align
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// f(pixel, weight) for the pixels under the greatest sample of an element of the output, if it has one.
template <class T, class F>
HWY_INLINE void for_greatest(const mluopsRoiAlignBackwardProblem& p, std::int64_t element, F&& f) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const A y = to_acc(static_cast<const T*>(p.argmax_y)[element]),
          x = to_acc(static_cast<const T*>(p.argmax_x)[element]);
  AxisSample<A> ys, xs;
  if (y == A{-1} || !sample_axis(y, s.h, ys) || !sample_axis(x, s.w, xs)) return;
  f(ys.low * s.w + xs.low, ys.low_weight * xs.low_weight);
  f(ys.low * s.w + xs.high, ys.low_weight * xs.high_weight);
  f(ys.high * s.w + xs.low, ys.high_weight * xs.low_weight);
  f(ys.high * s.w + xs.high, ys.high_weight * xs.high_weight);
}

// ---- owner -----------------------------------------------------------------------------------

/// One task: channels [first, last) of an image.
template <class T>
class ChannelOwner {
 public:
  using A = Acc<T>;

  ChannelOwner(const mluopsRoiAlignBackwardProblem& p, const BackwardArrays<A>& arrays, int slot)
      : p_(p),
        s_(p.shape),
        steps_(s_, p.layout),
        rois_(arrays.rois),
        own_(arrays.sums + slot * arrays.sum_count),
        room_(arrays.rooms[slot]) {}

  void run(std::int64_t image, std::int64_t first, std::int64_t last) {
    T* const gradient = static_cast<T*>(p_.grad_input) + image * steps_.image + first * steps_.channel;
    const std::int64_t count = last - first;
    Sums<A> sums{own_, count, 1};
    if constexpr (kAddsInPlace<T>) sums = {gradient, steps_.pixel, steps_.channel};
    clear(sums, count);
    for (const std::int64_t roi : rois_.of_image(image)) add(roi, first, last, sums);
    if constexpr (!kAddsInPlace<T>) {
      for_rows(count, [&](std::int64_t pixel, std::int64_t n)
                          HWY_ATTR { store_row(own_ + pixel * count, gradient + pixel * steps_.pixel, n); });
    }
  }

 private:
  bool planes() const { return p_.layout == MLUOP_LAYOUT_NCHW; }

  /// f(pixel, n) for runs of n sums that lie together.
  template <class F>
  HWY_INLINE void for_rows(std::int64_t count, F&& f) const {
    if (planes()) return f(0, s_.h * s_.w);
    for (std::int64_t pixel = 0; pixel < s_.h * s_.w; ++pixel) f(pixel, count);
  }
  void clear(const Sums<A>& sums, std::int64_t count) const {
    for_rows(count, [&](std::int64_t pixel, std::int64_t n) { std::fill_n(sums.first + pixel * sums.pixel, n, A{0}); });
  }

  void add(std::int64_t roi, std::int64_t first, std::int64_t last, const Sums<A>& sums) {
    const std::int64_t element = roi * steps_.roi + first * steps_.bin_channel;
    if (s_.mean == 0) return add_greatest(element, last - first, sums);
    if (planes()) return PlaneBackward<T>(s_, rois_, room_).run(roi, grad_output() + element, sums.first);
    for (std::int64_t y = 0; y < s_.pooled_h; ++y) {
      for (std::int64_t x = 0; x < s_.pooled_w; ++x) {
        add_mean(roi, y, x, grad_output() + element + (y * s_.pooled_w + x) * steps_.bin, last - first, sums);
      }
    }
  }

  HWY_INLINE void add_mean(std::int64_t roi, std::int64_t row, std::int64_t col, const T* grad, std::int64_t count,
                           const Sums<A>& sums) const {
    for (const WeightTap<A>& y : rois_.rows(roi, row)) {
      const A weight = y.weight * rois_[roi].inverse_count;
      for (const WeightTap<A>& x : rois_.columns(roi, col)) {
        axpy(weight * x.weight, grad, sums.first + (y.index * s_.w + x.index) * sums.pixel, count);
      }
    }
  }

  void add_greatest(std::int64_t first_element, std::int64_t count, const Sums<A>& sums) const {
    for (std::int64_t bin = 0; bin < s_.pooled_h * s_.pooled_w; ++bin) {
      for (std::int64_t c = 0; c < count; ++c) {
        const std::int64_t element = first_element + bin * steps_.bin + c * steps_.bin_channel;
        const A g = to_acc(grad_output()[element]);
        for_greatest<T>(p_, element, [&](std::int64_t pixel, A weight) {
          sums.first[pixel * sums.pixel + c * sums.channel] += weight * g;
        });
      }
    }
  }

  const T* grad_output() const { return static_cast<const T*>(p_.grad_output); }

  const mluopsRoiAlignBackwardProblem& p_;
  const Shape& s_;
  Steps steps_;
  const RoiTable<A>& rois_;
  A* own_;
  PlaneRoom<A> room_;
};

template <class T>
void backward_by_owner(const Context& context, const mluopsCall& call, const mluopsRoiAlignBackwardProblem& p,
                       const BackwardArrays<Acc<T>>& arrays) {
  const Shape& s = p.shape;
  const std::int64_t owned = owned_channels(s, p.layout, call), groups = ceil_div(s.c, owned);
  const double taps = 2 + (s.mean != 0 ? arrays.rois.taps_per_bin() : 4);
  const double bins = static_cast<double>(s.rois * s.pooled_h * s.pooled_w) / static_cast<double>(s.batch);
  const double task_ns = kAddNs * static_cast<double>(owned) * (bins * taps * 2 + static_cast<double>(s.h * s.w));
  Loop(context, call, s.batch * groups, task_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    ChannelOwner<T> owner(p, arrays, slot);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % groups * owned;
      owner.run(task / groups, first, std::min(s.c, first + owned));
    }
  });
}

// ---- atomic ----------------------------------------------------------------------------------

/// One bin, all channels, added to sums of the whole map.
template <class T>
void add_bin_atomically(const mluopsRoiAlignBackwardProblem& p, const RoiTable<Acc<T>>& rois, std::int64_t roi,
                        std::int64_t row, std::int64_t col, Acc<T>* sums) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const Steps steps(s, p.layout);
  A* const image = sums + rois[roi].batch * steps.image;
  for (std::int64_t c = 0; c < s.c; ++c) {
    const std::int64_t element = roi * steps.roi + (row * s.pooled_w + col) * steps.bin + c * steps.bin_channel;
    const A g = to_acc(static_cast<const T*>(p.grad_output)[element]);
    const auto add = [&](std::int64_t pixel, A weight) {
      atomic_add(image + pixel * steps.pixel + c * steps.channel, weight * g);
    };
    if (s.mean == 0) {
      for_greatest<T>(p, element, add);
      continue;
    }
    for (const WeightTap<A>& y : rois.rows(roi, row)) {
      const A weight = y.weight * rois[roi].inverse_count;
      for (const WeightTap<A>& x : rois.columns(roi, col)) add(y.index * s.w + x.index, weight * x.weight);
    }
  }
}

template <class T>
void backward_by_atomics(Context& context, const mluopsCall& call, const mluopsRoiAlignBackwardProblem& p,
                         const BackwardArrays<Acc<T>>& arrays) {
  const Shape& s = p.shape;
  const std::int64_t total = s.batch * s.h * s.w * s.c;
  Acc<T>* sums = arrays.sums;
  if constexpr (kAddsInPlace<T>) sums = static_cast<T*>(p.grad_input);
  clear_sums(context, call, sums, total);
  Loop(context, call, s.rois * s.pooled_h, 100.0 * static_cast<double>(s.pooled_w * s.c))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t item = begin; item < end; ++item) {
          for (std::int64_t col = 0; col < s.pooled_w; ++col) {
            add_bin_atomically<T>(p, arrays.rois, item / s.pooled_h, item % s.pooled_h, col, sums);
          }
        }
      });
  store_sums(context, call, sums, static_cast<T*>(p.grad_input), total);
}

template <bool atomic, class T>
mluOpStatus_t backward_by(Context& context, const mluopsCall& call, const mluopsRoiAlignBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  auto arrays = allocate<BackwardArrays<A>>(context.arena, call, s, p.layout, atomic, kAddsInPlace<T>);
  if (!arrays) return no_memory(call);
  arrays->rois.template read<T>(p.rois);
  if (s.mean != 0 && !arrays->rois.list_taps(context, call)) return no_memory(call);
  if constexpr (atomic) {
    backward_by_atomics<T>(context, call, p, *arrays);
  } else {
    backward_by_owner<T>(context, call, p, *arrays);
  }
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsRoiAlignBackwardProblem& p) {
  using Problem = mluopsRoiAlignBackwardProblem;
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  static constexpr Path<Problem> kPaths[] = {
      {kAtomicPath, atomic_applies<Problem>, backward_by<true, T>},
      {"owner", always<Problem>, backward_by<false, T>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(backward, mluopsRoiAlignBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(roi_align_backward, roi_align, backward, mluopsRoiAlignBackwardProblem)

}  // namespace mluops::cpu
#endif
