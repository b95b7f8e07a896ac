// Sums of bilinear samples at points that RoIs choose, and what they add to a gradient. Include after foreach_target.h,
// like simd-inl.h.
//
// `Roi` says which points:
//   static RoiBins bins(shape)                   how many there are of what
//   static read<T>(problem, r)                   RoI r, an object with
//     image, row(), column()                     the image, and the pixel that it is about at
//     inverse_count                              factor of its sums
//     for_each_sample(row, column, visit)        visit(WeightedPixels) for the samples of a bin that are on the map
#include <algorithm>

#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/point_samples.h"
#include "backends/cpu/sampling/roi_gradient-inl.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_SAMPLING_POINT_SAMPLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SAMPLING_POINT_SAMPLES_INL_H_
#else
#define MLUOPS_CPU_SAMPLING_POINT_SAMPLES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// The sum of a bin: samples collected, then added to all channels.
template <class T>
class BinSum {
 public:
  using A = Acc<T>;

  /// sums: a row of `channels`, for bins of more pixels than are collected at a time.
  BinSum(const T* image, std::int64_t channels, A* sums) : image_(image), channels_(channels), sums_(sums) {}

  void begin(double scale) {
    scale_ = scale;
    count_ = 0;
    in_sums_ = false;
  }
  template <std::size_t n>
  void add(const WeightedPixels<n>& sample) {
    if (count_ + n > kMost) flush(sums_);
    for (std::size_t k = 0; k < n; ++k) {
      pixels_[count_] = image_ + sample.pixel[k] * channels_;
      weights_[count_++] = static_cast<A>(sample.weight[k] * scale_);
    }
  }
  void store_to(T* output) { flush(output); }

 private:
  static constexpr std::size_t kMost = 128;

  template <class To>
  void flush(To* to) {
    for_wide<A, 4>(channels_, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      constexpr int kWide = decltype(vectors)::value;
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
      hn::Vec<decltype(d)> sum[kWide];
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) sum[v] = in_sums_ ? hn::LoadU(d, sums_ + c + v * lanes) : hn::Zero(d);
      for (std::size_t i = 0; i < count_; ++i) {
        const auto weight = hn::Set(d, weights_[i]);
        MLUOPS_UNROLL
        for (int v = 0; v < kWide; ++v) sum[v] = hn::MulAdd(weight, load(d, pixels_[i] + c + v * lanes), sum[v]);
      }
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) store(sum[v], d, to + c + v * lanes);
    });
    count_ = 0;
    in_sums_ = true;
  }

  const T* image_;
  std::int64_t channels_;
  A* sums_;
  double scale_ = 0;
  std::size_t count_ = 0;
  bool in_sums_ = false;
  const T* pixels_[kMost];
  A weights_[kMost];
};

/// output [RoIs,rows,columns,C] of problem.input in NHWC. An item is a row of bins of a RoI and owns it. The samples of
/// a bin are found some at a time, for all channels; the sums of some vectors of channels stay in registers while they
/// go by: 8 flops on 4 loads a sample and channel, bound by the caches the map lies in.
template <class T, class Roi, class Problem>
mluOpStatus_t sum_points(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const auto& s = p.shape;
  const RoiBins bins = Roi::bins(s);
  const double row_ns = bins.samples * static_cast<double>(bins.columns * s.c) * cost::kElement;
  const Loop loop(context, call, bins.rois * bins.rows, row_ns);
  A* const sums = context.arena.reserve_array<A>(loop.slots(), s.c);
  if (sums == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const auto roi = Roi::template read<T>(p, item / bins.rows);
      BinSum<T> sum(static_cast<const T*>(p.input) + roi.image * s.h * s.w * s.c, s.c, sums + slot * s.c);
      for (std::int64_t column = 0; column < bins.columns; ++column) {
        sum.begin(roi.inverse_count);
        roi.for_each_sample(item % bins.rows, column, [&](const auto& sample) { sum.add(sample); });
        sum.store_to(static_cast<T*>(p.output) + (item * bins.columns + column) * s.c);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// sum_points in NHWC; in NCHW `run`, the operator itself, between transposes.
template <class T, class Roi, auto run, class Problem>
mluOpStatus_t run_sum_points(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {{"rows", always<Problem>, sum_points<T, Roi, Problem>}};
  static constexpr Path<Problem> kNchwPaths[] = {layout::kTransposed<run, Problem>};
  return run_path(context, call, p, p.layout == MLUOP_LAYOUT_NCHW ? kNchwPaths : kPaths);
}

/// What the RoIs of a call add to its grad_input, for roi_gradient: four additions a sample and channel, at pixels
/// found once for each block of channels: bound by the caches the sums lie in.
template <class T, class Roi, class Problem>
struct PointRois {
  static constexpr bool kOwnPixels = false;
  const Problem& p;

  std::int64_t count() const { return Roi::bins(p.shape).rois; }
  double additions() const {
    const RoiBins bins = Roi::bins(p.shape);
    return 4 * bins.samples * static_cast<double>(bins.rows * bins.columns);
  }
  PlacedRoi place(std::int64_t r) const {
    const auto roi = Roi::template read<T>(p, r);
    return {roi.image, roi.row(), roi.column(), r};
  }
  /// to(pixel, channel, value) for channels [first, end) of a RoI's samples.
  template <class Add>
  HWY_INLINE void add(std::int64_t r, std::int64_t first, std::int64_t end, Add&& to) const {
    using A = Acc<T>;
    const auto* const grad = static_cast<const T*>(p.grad_output);
    const layout::Elements bins = elements();
    const std::int64_t columns = Roi::bins(p.shape).columns;
    const auto roi = Roi::template read<T>(p, r);
    constexpr std::int64_t kMost = 256;
    A own[kMost];  // of a bin: no store of to() can change it, so loops over channels become vectors
    for (std::int64_t bin = 0; bin < bins.pixels; ++bin) {
      for (std::int64_t from = first; from < end; from += kMost) {
        const std::int64_t count = std::min(kMost, end - from), at = bins.at(r, from) + bin * bins.pixel();
        if (bins.planes) {
          for (std::int64_t i = 0; i < count; ++i) own[i] = to_acc(grad[at + i * bins.pixels]);
        } else {
          load_row(grad + at, own, count);
        }
        roi.for_each_sample(bin / columns, bin % columns, [&](const auto& sample) HWY_ATTR {
          for (std::size_t k = 0; k < sample.pixel.size(); ++k) {
            const A weight = static_cast<A>(sample.weight[k] * roi.inverse_count);
            for (std::int64_t i = 0; i < count; ++i) to(sample.pixel[k], from + i, weight * own[i]);
          }
        });
      }
    }
  }
  HWY_INLINE void fetch(std::int64_t roi, std::int64_t first, std::int64_t end) const {
    elements().fetch_run(static_cast<const T*>(p.grad_output), roi, first, end);
  }

 private:
  layout::Elements elements() const {
    const RoiBins bins = Roi::bins(p.shape);
    return {bins.rows * bins.columns, p.shape.c, p.layout == MLUOP_LAYOUT_NCHW};
  }
};

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
