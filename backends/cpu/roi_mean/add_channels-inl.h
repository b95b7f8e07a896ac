// Means of RoIs' bins, backward for few channels: added one by one to grad_input, where it lies.
#if defined(MLUOPS_CPU_ROI_MEAN_ADD_CHANNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_ADD_CHANNELS_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_ADD_CHANNELS_INL_H_
#endif

#include "backends/cpu/roi_mean/pool_planes-inl.h"
#include "backends/cpu/roi_mean/taps-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Adds RoIs to some rows of an image, channel by channel.
template <class T>
class FewChannelSums {
 public:
  using A = Acc<T>;

  FewChannelSums(const BackwardProblem& p, const Bins<T>& bins, const RoiTaps<A>& taps, std::int64_t place)
      : p_(p), bins_(bins), taps_(taps), place_(place), planes_(p.layout == MLUOP_LAYOUT_NCHW) {}

  void run(std::int64_t image, PixelRange band) const {
    const Shape& s = p_.shape;
    const std::int64_t pixels = s.h * s.w;
    A* const gradient = static_cast<A*>(p_.grad_input) + image * s.c * pixels;
    clear(band, gradient);
    for (std::int64_t roi = 0; roi < s.rois; ++roi) {
      if (bins_.roi({0, roi, 0, 0}).batch != image || !meets(roi, band)) continue;
      find_taps(bins_, roi, taps_, place_);
      const A* const grad = static_cast<const A*>(p_.grad_output) + roi * s.c * bins_.plane();
      for (std::int64_t c = 0; c < s.c; ++c) {
        if (planes_) {
          add<1>(roi, band, grad + c * bins_.plane(), gradient + c * pixels, 1);
        } else {
          add<0>(roi, band, grad + c, gradient + c, s.c);
        }
      }
    }
  }

 private:
  void clear(PixelRange band, A* gradient) const {
    const Shape& s = p_.shape;
    const std::int64_t runs = planes_ ? s.c : 1, line = s.w * (planes_ ? 1 : s.c);
    for (std::int64_t i = 0; i < runs; ++i) {
      std::fill_n(gradient + (i * s.h + band.first) * line, (band.last - band.first) * line, A{0});
    }
  }
  bool meets(std::int64_t roi, PixelRange band) const {
    const PixelRange rows = bins_.y({0, roi, 0, 0}).pixels_to(bins_.y({0, roi, bins_.s.pooled_h - 1, 0}), bins_.s.h);
    return rows.first < band.last && band.first < rows.last;
  }
  /// The RoI whose taps were found, in a channel; from a pixel or bin to the next there are kStep elements, `step` for
  /// 0.
  template <std::int64_t kStep>
  void add(std::int64_t roi, PixelRange band, const A* grad, A* gradient, std::int64_t step) const {
    const Shape& s = bins_.s;
    const std::int64_t next = kStep > 0 ? kStep : step;
    const A inverse_count = bins_.roi({0, roi, 0, 0}).inverse_count;
    for (std::int64_t row = 0; row < s.pooled_h; ++row, grad += s.pooled_w * next) {
      for (const WeightTap<A>& y : taps_.rows(place_).taps(row)) {
        if (y.index < band.first || y.index >= band.last) continue;
        A* const line = gradient + y.index * s.w * next;
        for (std::int64_t col = 0; col < s.pooled_w; ++col) {
          const A own = y.weight * inverse_count * grad[col * next];
          for (const WeightTap<A>& x : taps_.columns(place_).taps(col)) line[x.index * next] += own * x.weight;
        }
      }
    }
  }

  const BackwardProblem& p_;
  const Bins<T>& bins_;
  const RoiTaps<A>& taps_;
  const std::int64_t place_;
  const bool planes_;
};

/// A task owns some rows of an image, to which RoIs are added in their order. Bound by these additions.
template <class T>
mluOpStatus_t backward_by_channels(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  constexpr std::int64_t kLeastRows = 16;
  context.last_scatter = "owner";
  const Shape& s = p.shape;
  auto arrays = allocate<PlaneArrays<Acc<T>>>(context.arena, call, s, false, LargestBin<T>(s, p.rois));
  if (!arrays) return no_memory(call);
  if (!read_rois<T>(s, p.rois, arrays->rois)) return too_many_samples(call);
  const Bins<T> bins(s, nullptr, arrays->rois);
  const std::int64_t wanted = call.threads == 1 ? 1 : ceil_div(2 * call.threads, s.batch);
  const std::int64_t bands = std::min(wanted, ceil_div(s.h, kLeastRows)), items = s.batch * bands;
  const double pixels = static_cast<double>(s.batch * s.h * s.w), samples = 16 * static_cast<double>(bins.count());
  const double all_ns = static_cast<double>(s.c) * (cost::kMove * pixels + cost::kScatter * samples);
  Loop(context, call, items, all_ns / static_cast<double>(items))
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        const FewChannelSums<T> sums(p, bins, arrays->taps, slot);
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t part = i % bands;
          sums.run(i / bands, {part * s.h / bands, (part + 1) * s.h / bands});
        }
      });
  return MLUOP_STATUS_SUCCESS;
}

/// For sums in place, without offset. The same in both layouts, whose gradients are bitwise equal.
template <class T>
Fit few_channels(const Context& context, const mluopsCall& call, const BackwardProblem& p) {
  constexpr std::int64_t kFewChannels = 4;
  return fit(kAddsInPlace<T> && p.offset == nullptr && !wants_atomics(context, call), p.shape.c <= kFewChannels);
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
