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

#include "backends/cpu/layout/image_rows.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/point_planes-inl.h"
#include "backends/cpu/sampling/point_samples.h"
#include "backends/cpu/sampling/roi_gradient-inl.h"
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

/// The pixels that the samples of all RoIs touch.
template <class T, class Roi, class Problem>
void find_touched(const Context& context, const mluopsCall& call, const Problem& p, layout::Touched& touched) {
  const RoiBins bins = Roi::bins(p.shape);
  const double roi_ns = 4 * cost::kStep * bins.samples * static_cast<double>(bins.rows * bins.columns);
  touched.find(context, call, bins.rois, roi_ns, [&](std::int64_t r, auto touch) {
    const auto roi = Roi::template read<T>(p, r);
    for (std::int64_t bin = 0; bin < bins.rows * bins.columns; ++bin) {
      roi.for_each_sample(bin / bins.columns, bin % bins.columns, [&](const auto& sample) {
        for (const std::int64_t pixel : sample.pixel) touch(roi.image, pixel, pixel + 1);
      });
    }
  });
}

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
  const auto find = [&](auto& touched) HWY_ATTR { find_touched<T, Roi>(context, call, p, touched); };
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

/// What the RoIs of a call add to its grad_input, for roi_gradient: four additions a sample and channel, at pixels
/// found once for all tasks where there are several: bound by the caches the sums lie in.
template <class T, class Roi, class Problem>
struct PointRois {
  static constexpr bool kOwnPixels = false;
  using List = SampleList<Acc<T>>;
  const Problem& p;

  std::int64_t count() const { return Roi::bins(p.shape).rois; }
  std::int64_t bins() const { return elements().pixels; }
  double additions() const { return 4 * Roi::bins(p.shape).samples * static_cast<double>(bins()); }
  PlacedRoi place(std::int64_t r) const {
    const auto roi = Roi::template read<T>(p, r);
    return {roi.image, roi.row(), roi.column(), r};
  }
  void find_touched(const Context& context, const mluopsCall& call, layout::Touched& touched) const {
    cpu::HWY_NAMESPACE::find_touched<T, Roi>(context, call, p, touched);
  }
  double most_pixels(std::int64_t r) const { return Roi::template read<T>(p, r).most_pixels(Roi::bins(p.shape)); }
  void fill(const Context& context, const mluopsCall& call, const RoiOrder& order, const PixelBands& bands,
            typename List::Pixel* pixels, List& list) const {
    const RoiRuns runs{count(), bins()};
    const double run_ns = 2 * additions() * cost::kStep * static_cast<double>(runs.each());
    const auto image_of = [&](std::int64_t i) { return order.all()[static_cast<std::size_t>(i)].image; };
    list.fill(context, call, runs, pixels, run_ns, image_of, [&](std::int64_t run, auto add) HWY_ATTR {
      for (std::int64_t i = runs.begin(run), first = 0; i < runs.begin(run + 1); ++i, first += bins()) {
        const PlacedRoi& placed = order.all()[static_cast<std::size_t>(i)];
        const std::int64_t band = placed.image * bands.count();
        Found(*this, placed.roi).each_bin([&](std::int64_t bin, const auto& each) HWY_ATTR {
          each([&](std::int64_t pixel, Acc<T> weight) { add(first + bin, band + bands.of(pixel), pixel, weight); });
        });
      }
    });
  }
  /// to(pixel, channel, value) for channels [first, end) of a RoI's samples.
  template <class Add>
  HWY_INLINE void add(std::int64_t r, std::int64_t first, std::int64_t end, Add&& to) const {
    add_samples([r](std::int64_t) { return r; }, Found(*this, r), first, end, to);
  }
  /// Likewise of some samples of a run.
  template <class Add>
  HWY_INLINE void add_listed(const RoiOrder& order, std::int64_t run, typename List::Pixels samples, std::int64_t first,
                             std::int64_t end, Add&& to) const {
    add_samples(RunRois{order.all().data() + RoiRuns{count(), bins()}.begin(run)}, Listed{samples}, first, end, to);
  }
  void fetch_listed(const RoiOrder& order, std::int64_t run, typename List::Pixels samples, std::int64_t first,
                    std::int64_t end) const {
    const RunRois roi_of{order.all().data() + RoiRuns{count(), bins()}.begin(run)};
    const layout::Elements of = elements();
    std::int64_t last = -1;
    for (const auto& sample : samples) {
      const std::int64_t fetched = of.planes ? sample.bin / of.pixels : std::int64_t{sample.bin};
      if (std::exchange(last, fetched) == fetched) continue;
      const std::int64_t roi = roi_of(sample.bin / of.pixels);
      if (of.planes) {
        fetch(roi, first, end);
      } else {
        prefetch<2>(static_cast<const T*>(p.grad_output) + of.at(roi, first) + sample.bin % of.pixels * of.pixel(),
                    end - first);
      }
    }
  }
  HWY_INLINE void fetch(std::int64_t roi, std::int64_t first, std::int64_t end) const {
    elements().fetch_run(static_cast<const T*>(p.grad_output), roi, first, end);
  }

 private:
  /// The samples of a RoI, found as they are asked for. each_bin(visit): visit(bin, each) for the bins, in order;
  /// each(add) calls add(pixel, weight).
  struct Found {
    decltype(Roi::template read<T>(std::declval<const Problem&>(), 0)) roi;
    std::int64_t rows, columns;

    Found(const PointRois& rois, std::int64_t r)
        : roi(Roi::template read<T>(rois.p, r)),
          rows(Roi::bins(rois.p.shape).rows),
          columns(Roi::bins(rois.p.shape).columns) {}

    template <class Visit>
    HWY_INLINE void each_bin(Visit&& visit) const {
      for (std::int64_t bin = 0; bin < rows * columns; ++bin) {
        visit(bin, [&](auto&& add) HWY_ATTR {
          roi.for_each_sample(bin / columns, bin % columns, [&](const auto& sample) HWY_ATTR {
            for (std::size_t k = 0; k < sample.pixel.size(); ++k) {
              add(sample.pixel[k], static_cast<Acc<T>>(sample.weight[k] * roi.inverse_count));
            }
          });
        });
      }
    }
  };
  struct Listed {
    typename List::Pixels samples;

    template <class Visit>
    HWY_INLINE void each_bin(Visit&& visit) const {
      for (std::size_t i = 0, end = 0; i < samples.size(); i = end) {
        while (end < samples.size() && samples[end].bin == samples[i].bin) ++end;
        visit(std::int64_t{samples[i].bin}, [&](auto&& add) HWY_ATTR {
          for (const auto& sample : samples.subspan(i, end - i)) add(std::int64_t{sample.pixel}, sample.weight);
        });
      }
    }
  };
  /// The RoIs of a run.
  struct RunRois {
    const PlacedRoi* placed;
    std::int64_t operator()(std::int64_t i) const { return placed[i].roi; }
  };

  /// roi_of(i): the RoI number i of those whose bins `samples` counts.
  template <class RoiOf, class Samples, class Add>
  HWY_INLINE void add_samples(const RoiOf& roi_of, const Samples& samples, std::int64_t first, std::int64_t end,
                              Add&& to) const {
    using A = Acc<T>;
    const auto* const grad = static_cast<const T*>(p.grad_output);
    const layout::Elements of = elements();
    constexpr std::int64_t kMost = 256, kBins = 16;
    HWY_ALIGN T rows[kBins * kMost];  // in NCHW, of some bins
    A own[kMost];                     // of a bin: no store of to() can change it, so loops over channels become vectors
    for (std::int64_t from = first; from < end; from += kMost) {
      const std::int64_t count = std::min(kMost, end - from);
      std::int64_t transposed = -1, transposed_end = -1;  // bins
      samples.each_bin([&](std::int64_t bin, const auto& each) HWY_ATTR {
        const std::int64_t of_roi = bin % of.pixels;
        const T* row = grad + of.at(roi_of(bin / of.pixels), from) + of_roi * of.pixel();
        if (of.planes) {
          if (bin >= transposed_end) {
            transposed = bin - of_roi % kBins;
            transposed_end = std::min(transposed + kBins, bin - of_roi + of.pixels);
            transpose_panel(reinterpret_cast<const Moved<T>*>(row - of_roi % kBins), of.pixels, count,
                            transposed_end - transposed, reinterpret_cast<Moved<T>*>(rows), kMost);
          }
          row = rows + (bin - transposed) * kMost;
        }
        load_row(row, own, count);
        each([&](std::int64_t pixel, A weight) HWY_ATTR {
          for (std::int64_t i = 0; i < count; ++i) to(pixel, from + i, weight * own[i]);
        });
      });
    }
  }

  layout::Elements elements() const {
    const RoiBins bins_of_roi = Roi::bins(p.shape);
    return {bins_of_roi.rows * bins_of_roi.columns, p.shape.c, p.layout == MLUOP_LAYOUT_NCHW};
  }
};

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
