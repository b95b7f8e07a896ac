// Sums of bilinear samples at points that RoIs choose, and what they add to a gradient. Include after foreach_target.h,
// like simd-inl.h.
//
// `Roi` says which points:
//   static RoiBins bins(shape)                   how many there are of what
//   static read<T>(problem, r)                   RoI r, an object with
//     image, row(), column()                     the image, and the pixel that it is about at
//     inverse_count                              factor of its sums
//     for_each_sample(row, column, visit)        visit(WeightedPixels) for the samples of a bin that are on the map
//     most_pixels(bins)                          at least as many as those of all bins have in all
#include <algorithm>
#include <utility>

#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/layout/image_rows.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/point_planes-inl.h"
#include "backends/cpu/sampling/point_samples.h"
#include "backends/cpu/sampling/sampled_rois.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_SAMPLING_POINT_SAMPLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SAMPLING_POINT_SAMPLES_INL_H_
#else
#define MLUOPS_CPU_SAMPLING_POINT_SAMPLES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// Scratch of a thread: a bin's sums and, in NCHW, a RoI's bins as rows of channels.
template <class T>
struct RoiScratch {
  Acc<T>* sums;
  T* rows;

  RoiScratch(Allocator& allocator, std::int64_t channels, std::int64_t bins)
      : sums(allocator.allocate<Acc<T>>(channels)), rows(allocator.allocate<T>(channels, bins)) {}
};

/// Sums of bins. Where an image is `far`, beyond the second cache, they are some bins behind the samples that are
/// found, whose pixels are on their way meanwhile.
template <class T>
class BinSums {
 public:
  using A = Acc<T>;

  /// sums: a row of channels, for bins of more pixels than are collected at a time.
  BinSums(const layout::ImageRows<T>& images, A* sums)
      : channels_(images.width()),
        step_(images.step()),
        sums_(sums),
        far_(images.far()),
        count_waiting_(far_ ? kMostWaiting : 1) {}

  void begin(const layout::PixelRows<T>& image, double scale) {
    image_ = image;
    scale_ = scale;
  }
  template <std::size_t n>
  HWY_INLINE void add(const WeightedPixels<n>& sample) {
    if (waiting_[last_].count + n > kMost) go_on(nullptr);
    Some& some = waiting_[last_];
    for (std::size_t k = 0; k < n; ++k) {
      const T* const pixel = image_.at(sample.pixel[k]);
      if (far_) prefetch<2>(pixel, channels_);
      some.pixels[some.count] = pixel;
      some.weights[some.count++] = static_cast<A>(sample.weight[k] * scale_);
    }
  }
  void end(T* output) { go_on(output); }
  void finish() {
    for (std::size_t i = 0; i < count_waiting_; ++i) go_on(nullptr);
  }

 private:
  static constexpr std::size_t kMost = 32, kMostWaiting = 4;

  /// Pixels of a bin.
  struct Some {
    std::size_t count = 0;
    bool begins = true;   ///< no pixels of the bin come before
    T* output = nullptr;  ///< of the bin, if none come behind
    const T* pixels[kMost];
    A weights[kMost];
  };

  void go_on(T* output) {
    waiting_[last_].output = output;
    const bool unfinished = output == nullptr && waiting_[last_].count > 0;
    last_ = (last_ + 1) % count_waiting_;
    Some& some = waiting_[last_];
    if (some.output != nullptr) {
      add_up(some, some.output);
    } else if (some.count > 0) {
      add_up(some, sums_);
    }
    some.count = 0;
    some.begins = !unfinished;
    some.output = nullptr;
  }

  template <class To>
  void add_up(const Some& some, To* to) const {
    step_ == 1 ? add_rows(some, to) : add_planes(some, to);
  }
  template <class To>
  void add_planes(const Some& some, To* to) const {
    const hn::CappedTag<A, 1> d;
    for (std::int64_t c = 0; c < channels_; ++c) {
      auto sum = some.begins ? hn::Zero(d) : hn::LoadU(d, sums_ + c);
      for (std::size_t i = 0; i < some.count; ++i) {
        sum = hn::MulAdd(hn::Set(d, some.weights[i]), load(d, some.pixels[i] + c * step_), sum);
      }
      store(sum, d, to + c);
    }
  }
  template <class To>
  void add_rows(const Some& some, To* to) const {
    for_wide<A, 4>(channels_, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      constexpr int kWide = decltype(vectors)::value;
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
      hn::Vec<decltype(d)> sum[kWide];
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) sum[v] = some.begins ? hn::Zero(d) : hn::LoadU(d, sums_ + c + v * lanes);
      for (std::size_t i = 0; i < some.count; ++i) {
        const auto weight = hn::Set(d, some.weights[i]);
        MLUOPS_UNROLL
        for (int v = 0; v < kWide; ++v) sum[v] = hn::MulAdd(weight, load(d, some.pixels[i] + c + v * lanes), sum[v]);
      }
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) store(sum[v], d, to + c + v * lanes);
    });
  }

  std::int64_t channels_, step_;
  A* sums_;
  layout::PixelRows<T> image_{};
  double scale_ = 0;
  const bool far_;
  const std::size_t count_waiting_;
  std::size_t last_ = 0;
  Some waiting_[kMostWaiting];
};

template <class Shape>
double row_of_bins_ns(const Shape& s, const RoiBins& bins) {
  return bins.samples * static_cast<double>(bins.columns * s.c) * cost::kElement;
}

/// Row number `row` of a RoI's bins, to output, whose bins lie `width` elements apart.
template <class T, class Roi>
HWY_INLINE void sum_row(const RoiBins& bins, const layout::PixelRows<T>& image, const Roi& roi, std::int64_t row,
                        BinSums<T>& bin, T* output, std::int64_t width) {
  bin.begin(image, roi.inverse_count);
  for (std::int64_t column = 0; column < bins.columns; ++column, output += width) {
    roi.for_each_sample(row, column, [&](const auto& sample) HWY_ATTR { bin.add(sample); });
    bin.end(output);
  }
}

/// The RoIs of a call.
template <class T, class Roi, class Problem>
class PointRois final : public SampledRois {
 public:
  explicit PointRois(const Problem& p) : SampledRois(Roi::bins(p.shape)), p_(p) {}

  PlacedRoi place(std::int64_t r) const override {
    const auto roi = Roi::template read<T>(p_, r);
    return {roi.image, roi.row(), roi.column(), r};
  }
  double most_pixels(std::int64_t r) const override { return Roi::template read<T>(p_, r).most_pixels(bins_); }
  void find(std::int64_t r, BinPixels& to) const override {
    const auto roi = Roi::template read<T>(p_, r);
    const std::int64_t rows = bins_.rows, columns = bins_.columns;
    const double scale = roi.inverse_count;
    BinPixels::Writer pixels(to);
    std::int64_t bin = r * bins();
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column, ++bin) {
        roi.for_each_sample(row, column, [&](const auto& sample) { pixels.add(bin, sample, scale); });
      }
    }
  }

 private:
  const Problem& p_;
};

template <class T>
struct PointArrays {
  layout::ImageRows<T> input;
  std::int64_t pixels;  ///< of an item, in NCHW
  SlotScratch<RoiScratch<T>> rooms;

  template <class Shape>
  PointArrays(Allocator& allocator, int slots, const Shape& s, mluOpTensorLayout_t layout, std::int64_t bins)
      : input(allocator, layout, s.batch, s.h * s.w, s.c, kFewChannels),
        pixels(input.planes() ? bins : 0),
        rooms(allocator, slots, input.width(), pixels) {}

  static constexpr std::int64_t kFewChannels = 8;
};

/// output [RoIs,rows,columns,C] of problem.input in NHWC. An item is a row of bins of a RoI and owns it. The samples of
/// a bin are found some at a time, for all channels; the sums of some vectors of channels stay in registers while they
/// go by: 8 flops on 4 loads a sample and channel, bound by the caches the map lies in. In NCHW an item is a RoI, whose
/// bins are transposed as they are done.
template <class T, class Roi, class Problem>
mluOpStatus_t sum_points(Context& context, const mluopsCall& call, const Problem& p) {
  const auto& s = p.shape;
  const RoiBins bins = Roi::bins(s);
  const std::int64_t rows = p.layout == MLUOP_LAYOUT_NCHW ? bins.rows : 1, pixels = rows * bins.columns;
  const Loop loop(context, call, bins.rois * bins.rows / rows, static_cast<double>(rows) * row_of_bins_ns(s, bins));
  auto arrays = allocate<PointArrays<T>>(context.arena, loop.slots(), s, p.layout, pixels);
  if (!arrays) return no_memory(call);
  const layout::ImageRows<T>& input = arrays->input;
  const auto find = [&](auto& touched) { find_touched(context, call, PointRois<T, Roi, Problem>(p), touched); };
  const double reads = 4 * bins.samples * static_cast<double>(bins.rois * bins.rows * bins.columns);
  if (!arrays->input.make_room(context, call, reads, find)) return no_memory(call);
  const bool large =
      bins.rois * bins.rows * bins.columns * s.c * static_cast<std::int64_t>(sizeof(T)) > second_cache(64);
  const auto sum_items = [&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const RoiScratch<T> own = arrays->rooms.of(slot, input.width(), arrays->pixels);
    BinSums<T> bin(input, own.sums);
    for (std::int64_t item = begin; item < end; ++item) {
      const auto roi = Roi::template read<T>(p, item * rows / bins.rows);
      T* const output = static_cast<T*>(p.output) + (item * s.c + input.channels().first) * pixels;
      T* const to = input.planes() ? own.rows : output;
      for (std::int64_t i = 0; i < rows; ++i) {
        sum_row(bins, input.of(roi.image), roi, (item * rows + i) % bins.rows, bin,
                to + i * bins.columns * input.width(), input.width());
      }
      if (!input.planes()) continue;
      bin.finish();
      using M = Moved<T>;
      layout::HWY_NAMESPACE::rows_to_planes(large, reinterpret_cast<const M*>(own.rows), input.width(), pixels,
                                            input.channels().count, reinterpret_cast<M*>(output), pixels);
    }
    bin.finish();
    non_temporal_fence();
  };
  arrays->input.each_group(context, call, p.input, [&] { loop.run(sum_items); });
  return MLUOP_STATUS_SUCCESS;
}

template <class T, class Roi, class Problem>
mluOpStatus_t run_sum_points(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {{"rows", always<Problem>, sum_points<T, Roi, Problem>}};
  static constexpr Path<Problem> kNchwPaths[] = {
      {"nchw_points", few_points<T, Roi, 150, Problem>, sum_planes<T, Roi, Problem>},
      {"nchw_rois", always<Problem>, sum_points<T, Roi, Problem>}};
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return run_path(context, call, p, kPaths);
}

/// grad_input of a call: its samples' gradients at their pixels.
template <class T, class Roi, class Problem>
mluOpStatus_t add_points(Context& context, const mluopsCall& call, const Problem& p) {
  const auto& s = p.shape;
  const PointRois<T, Roi, Problem> rois(p);
  return add_samples(context, call, {{s.dtype, s.batch, s.h, s.w, s.c}, p.layout, p.grad_output, p.grad_input, rois});
}

template <class T, class Roi, class Problem>
mluOpStatus_t point_gradient(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {{"owner", always<Problem>, add_points<T, Roi, Problem>}};
  return run_path(context, call, p, kPaths);
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
