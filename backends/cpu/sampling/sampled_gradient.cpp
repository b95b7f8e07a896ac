// The gradient of RoIs whose bins are sums of samples, in the images: each sample's pixels get its bin's gradient by
// their weights. channel_sums-inl.h says who owns what.
//
// A task goes through the samples of all RoIs of its image. Where there are several tasks the samples are found once
// for all of them (sample_list.h), unless they would take more memory than the tensors. One multiplication and addition
// a sample and channel, in vectors of channels (of pixels, where a map has one channel): bound by the caches the sums
// lie in.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/sampling/sampled_gradient.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/sampling/channel_sums-inl.h"
#include "backends/cpu/sampling/sampled_rois.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/prefetch.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::sampled_gradient::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// For tasks that find no samples themselves: bands, since a sample costs the less the more channels follow; narrow
/// bands and fewer channels where a small map has too few tasks else. In scratch there are no bands.
template <class T>
Owned owned_of_listed(const layout::Elements& map, std::int64_t images, const mluopsCall& call, bool in_place) {
  constexpr std::int64_t kLeast = layout::kBlockChannels<Acc<T>>, kNarrow = 64;
  const auto channels = [&](std::int64_t groups, std::int64_t least) {
    return std::clamp(round_up(ceil_div(map.channels, groups), kLeast), least, 16 * kLeast);
  };
  if (!in_place) return {channels(ceil_div(2 * call.threads, images), kLeast), false};
  const std::int64_t narrow = std::max<std::int64_t>(map.pixels / kNarrow, 1);
  const std::int64_t tasks = ceil_div(std::int64_t{call.threads}, images);
  const std::int64_t of_task = channels(ceil_div(tasks, narrow), 4 * kLeast);
  const std::int64_t wanted = ceil_div(tasks, ceil_div(map.channels, of_task));
  const std::int64_t bands = std::clamp(narrow / 2, std::min(wanted, narrow), 2 * wanted);
  return {of_task, true, PixelBands::log_of(map.pixels / bands)};
}

/// The least that is at least so many: rows of few channels of scratch cross no cache lines.
inline std::int64_t power_of_two(std::int64_t channels) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(channels)));
}

/// Channels that are added of a pixel in scratch: padding makes them whole vectors.
inline std::int64_t padded(std::int64_t channels) {
  return round_up(channels, 4);
}

/// Whether lanes beyond the last whole vector take a good part of the time where no padding follows them.
inline bool has_tail(std::int64_t channels) {
  return channels < 64 && channels > 1 && padded(channels) != channels;
}

inline RoiRuns runs_of(const SampledRois& rois) {
  return {rois.count(), rois.bins()};
}

/// A map of one channel is the same in both layouts.
inline bool has_planes(const SampledGradient& p) {
  return p.layout == MLUOP_LAYOUT_NCHW && p.shape.c > 1;
}

/// Rows of grad_output: the channels of a task of a bin, and zeros in the padding.
template <class T>
class GradRows {
 public:
  using A = Acc<T>;

  /// `width`: channels that are read of a row, in padding too.
  GradRows(const SampledGradient& p, std::int64_t first, std::int64_t end, std::int64_t width)
      : grad_(static_cast<const T*>(p.grad_output)),
        of_({p.rois.bins(), p.shape.c, has_planes(p)}),
        first_(first),
        count_(end - first),
        pads_(width > count_ && !of_.planes) {
    const std::int64_t padding = padded(count_) - count_;
    for (std::int64_t i = 0; i < kBins; ++i) std::fill_n(rows_ + i * kMost + count_, padding, T{});
    std::fill_n(copy_ + count_, padding, A{0});
  }

  /// Until the next call. Bins are those of all RoIs.
  HWY_INLINE const A* row(std::int64_t bin) {
    const T* const from = of_.planes ? transposed(bin) : grad_ + bin * of_.channels + first_;
    if constexpr (std::is_same_v<T, A>) {
      if (!pads_) return from;
    }
    load_row(from, copy_, count_);
    return copy_;
  }
  /// Prefetches what row() reads of bins that differ from the one before.
  template <class Pixels>
  HWY_INLINE void fetch(const Pixels& pixels) const {
    std::int64_t last = -1;
    for (const auto& at : pixels) {
      const std::int64_t run = of_.planes ? at.bin / of_.pixels : at.bin;
      if (std::exchange(last, run) == run) continue;
      of_.planes ? fetch_roi(run) : prefetch<2>(grad_ + run * of_.channels + first_, count_);
    }
  }
  HWY_INLINE void fetch_roi(std::int64_t roi) const { of_.fetch_run(grad_, roi, first_, first_ + count_); }

 private:
  static constexpr std::int64_t kMost = 16 * layout::kBlockChannels<A>, kBins = 16;

  /// Some bins of a RoI in NCHW are made rows together.
  HWY_INLINE const T* transposed(std::int64_t bin) {
    if (bin < begin_ || bin >= end_) {
      const std::int64_t roi = bin / of_.pixels, of_roi = round_down(bin % of_.pixels, kBins);
      begin_ = roi * of_.pixels + of_roi;
      end_ = begin_ + std::min(kBins, of_.pixels - of_roi);
      transpose_panel(reinterpret_cast<const Moved<T>*>(grad_ + of_.at(roi, first_) + of_roi), of_.pixels, count_,
                      end_ - begin_, reinterpret_cast<Moved<T>*>(rows_), kMost);
    }
    return rows_ + (bin - begin_) * kMost;
  }

  const T* grad_;
  layout::Elements of_;
  std::int64_t first_, count_;
  bool pads_;                         ///< rows that grad_output has without padding
  std::int64_t begin_ = 0, end_ = 0;  ///< bins in rows_
  HWY_ALIGN T rows_[kBins * kMost];
  HWY_ALIGN A copy_[kMost];
};

/// Adds samples to the sums of a task.
template <class T>
class Adder final : public BinPixels {
 public:
  using A = Acc<T>;
  using List = SampleList<A>;

  /// `count`: channels that are added of a pixel.
  Adder(const SampledGradient& p, const BandTask& task, std::int64_t count, A* to, std::int64_t step,
        const layout::RowPlaces& places)
      : p_(p),
        task_(task),
        rows_(p, task.first, task.end, count),
        count_(count),
        to_(to),
        step_(step),
        places_(places) {}

  /// The samples of these RoIs, found one RoI after the other.
  HWY_INLINE void add_found(std::span<const PlacedRoi> placed) {
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (i + kAhead < placed.size()) rows_.fetch_roi(placed[i + kAhead].roi);
      p_.rois.find(placed[i].roi, *this);
    }
  }
  /// The listed samples of the RoIs [first, first + placed.size()) of `order`.
  HWY_INLINE void add_listed(const List& list, const RoiOrder& order, std::span<const PlacedRoi> placed) {
    const RoiRuns runs = runs_of(p_.rois);
    const std::int64_t first = placed.data() - order.all().data();
    const std::int64_t end = runs.of(first + std::ssize(placed) - 1) + 1;
    std::int64_t next = runs.of(first);  // to be fetched
    std::size_t fetched = 0, added = 0;
    for (std::int64_t run = next; run < end; ++run) {
      const auto samples = list.on(task_.band, run);
      if (samples.empty()) continue;
      for (; next < end && fetched < added + kAhead; ++next) {
        const auto of_next = list.on(task_.band, next);
        if (of_next.empty()) continue;
        rows_.fetch(of_next);
        ++fetched;
      }
      add(samples);
      ++added;
    }
  }

 private:
  static constexpr std::size_t kAhead = 4;  ///< RoIs, or runs of them

  void take(std::span<const BinPixel> pixels) override { add(pixels); }
  void take_rectangle(const BinRectangle& pixels) override { add(pixels); }
  template <class Pixels>
  HWY_INLINE void add(const Pixels& pixels) {
    constexpr std::int64_t kFew = 4, kShort = 32;
    const std::int64_t count = count_, step = step_;
    if (count == 1 && step == 1) {
      add_each(pixels, [](const A* row, const auto* weights, std::int64_t n, A* sums) HWY_ATTR {
        const A grad = *row;
        for (std::int64_t i = 0; i < n; ++i) sums[i] += static_cast<A>(weights[i]) * grad;
      });
    } else if (count < kFew) {
      add_each(pixels, [=](const A* row, const auto* weights, std::int64_t n, A* sums) HWY_ATTR {
        for (std::int64_t i = 0; i < n; ++i, sums += step) {
          for (std::int64_t c = 0; c < count; ++c) sums[c] += static_cast<A>(weights[i]) * row[c];
        }
      });
    } else if (count < kShort) {
      add_each(pixels, [=](const A* row, const auto* weights, std::int64_t n, A* sums) HWY_ATTR {
        for_short(count,
                  [&](auto d, std::int64_t c) HWY_ATTR { add_vectors<1>(d, row + c, weights, n, sums + c, step); });
      });
    } else {
      add_each(pixels, [=](const A* row, const auto* weights, std::int64_t n, A* sums) HWY_ATTR {
        for_wide<A, 4>(count, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
          add_vectors<decltype(vectors)::value>(d, row + c, weights, n, sums + c, step);
        });
      });
    }
  }
  /// By vectors of at most 32 bytes: wider ones would cross a cache line with every second row.
  template <class Visit>
  static HWY_INLINE void for_short(std::int64_t count, const Visit& visit) {
    constexpr std::int64_t kMost = std::min<std::int64_t>(32 / sizeof(A), kLanes<A>);
    std::int64_t c = 0;
    for (; c + kMost <= count; c += kMost) visit(hn::CappedTag<A, kMost>(), c);
    if (c < count) for_tail<A, std::max<std::int64_t>(kMost / 2, 1)>(c, count, visit);
  }
  /// kWide vectors of the channels of n pixels.
  template <int kWide, class D, class Weight>
  static HWY_INLINE void add_vectors(D d, const A* row, const Weight* weights, std::int64_t n, A* sums,
                                     std::int64_t step) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<D> own[kWide];
    MLUOPS_UNROLL
    for (int v = 0; v < kWide; ++v) own[v] = hn::LoadU(d, row + v * lanes);
    for (std::int64_t i = 0; i < n; ++i, sums += step) {
      const auto weight = hn::Set(d, static_cast<A>(weights[i]));
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) {
        hn::StoreU(hn::Add(hn::LoadU(d, sums + v * lanes), hn::Mul(weight, own[v])), d, sums + v * lanes);
      }
    }
  }
  /// add_some(row, weights, n, sums) for n pixels of a bin whose sums follow each other.
  template <class Pixels, class AddSome>
  HWY_INLINE void add_each(const Pixels& pixels, const AddSome& add_some) {
    const layout::RowPlaces places = places_;
    const std::int64_t step = step_;
    A* const to = to_;
    std::int64_t last = -1;
    const A* row = nullptr;
    for (const auto& at : pixels) {
      if (at.bin != last) row = rows_.row(last = at.bin);
      add_some(row, &at.weight, 1, to + places(at.pixel) * step);
    }
  }
  template <class AddSome>
  HWY_INLINE void add_each(const BinRectangle& pixels, const AddSome& add_some) {
    const A* const row = rows_.row(pixels.bin);
    for (std::int64_t i = 0; i < pixels.lines; ++i) {
      A weights[BinRectangle::kMostColumns];
      for (std::int64_t k = 0; k < pixels.columns; ++k) weights[k] = static_cast<A>(pixels.down[i] * pixels.across[k]);
      for (std::int64_t k = 0, n; k < pixels.columns; k += n) {
        const std::int64_t pixel = pixels.pixel + i * pixels.pitch + k;
        n = std::min(pixels.columns - k, places_.run(pixel));
        add_some(row, weights + k, n, to_ + places_(pixel) * step_);
      }
    }
  }

  const SampledGradient& p_;
  const BandTask& task_;
  GradRows<T> rows_;
  std::int64_t count_;
  A* to_;
  std::int64_t step_;
  layout::RowPlaces places_;
};

template <class A>
struct ListArrays {
  RoiOrder order;
  layout::Touched touched;
  SampleList<A> list;

  ListArrays(Allocator& allocator, std::int64_t rois, std::int64_t images, std::int64_t pixels, std::int64_t runs,
             std::int64_t listed_images, std::int64_t bands)
      : order(allocator, rois), touched(allocator, images, pixels), list(allocator, runs, listed_images, bands) {}
};

/// The sums, and the listed pixels.
template <class A>
struct SumArrays : SumScratch<A> {
  using List = SampleList<A>;
  typename List::Pixel* pixels;
  typename List::Found* found;

  SumArrays(Allocator& allocator, std::int64_t slots, std::int64_t rows, std::int64_t channels, std::int64_t listed,
            std::int64_t threads)
      : SumScratch<A>(allocator, slots, rows, channels),
        pixels(allocator.allocate<typename List::Pixel>(listed)),
        found(allocator.allocate<typename List::Found>(threads, List::kMostFound)) {}
};

/// Whether several threads share the sums of a call, and its tensors are large beside a list's bins.
template <class T>
bool worth_a_list(const Context& context, const mluopsCall& call, const SampledRois& rois,
                  const layout::Elements& map) {
  if (map.channels < layout::kBlockChannels<Acc<T>> || map.pixels > INT32_MAX) return false;
  const double roi_ns = cost::kElement * rois.additions() * static_cast<double>(map.channels);
  return Loop(context, call, rois.count(), roi_ns).slots() > 1;
}

/// Measures the samples of RoIs; returns how many the list has to have room for.
template <class A>
std::int64_t measure(const Context& context, const mluopsCall& call, const SampledRois& rois, const RoiOrder& order,
                     SampleList<A>& list) {
  const RoiRuns runs = runs_of(rois);
  const double run_ns = 20 * cost::kStep * static_cast<double>(runs.each());
  Loop(context, call, runs.count(), run_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t run = begin; run < end; ++run) {
      double pixels = 0;
      for (std::int64_t i = runs.begin(run); i < runs.begin(run + 1); ++i) {
        pixels += rois.most_pixels(order.all()[static_cast<std::size_t>(i)].roi);
      }
      list.measure(run, pixels);
    }
  });
  return list.measured();
}

template <class A>
void fill(const Context& context, const mluopsCall& call, const SampledRois& rois, const RoiOrder& order,
          const PixelBands& bands, const SumArrays<A>& arrays, SampleList<A>& list) {
  const RoiRuns runs = runs_of(rois);
  const double run_ns = 2 * rois.additions() * cost::kStep * static_cast<double>(runs.each());
  const auto image_of = [&](std::int64_t i) { return order.all()[static_cast<std::size_t>(i)].image; };
  list.fill(context, call, runs, arrays.pixels, arrays.found, run_ns, image_of, [&](std::int64_t run, auto add) {
    for (std::int64_t i = runs.begin(run); i < runs.begin(run + 1); ++i) {
      const PlacedRoi& placed = order.all()[static_cast<std::size_t>(i)];
      const std::int64_t band = placed.image * bands.count();
      rois.each(placed.roi, [&](std::span<const BinPixel> some) {
        for (const BinPixel& at : some) {
          add(typename SampleList<A>::Found{{at.bin, static_cast<std::int32_t>(at.pixel), static_cast<A>(at.weight)},
                                            band + bands.of(at.pixel)});
        }
      });
    }
  });
}

template <class T>
mluOpStatus_t sum_samples(Context& context, const mluopsCall& call, const SampledGradient& p) {
  using A = Acc<T>;
  constexpr double kMany = 4;  // additions to a pixel: most pixels are touched, so none are looked for
  const SampledRois& rois = p.rois;
  const auto& s = p.shape;
  const layout::Elements map{s.h * s.w, s.c, has_planes(p)};
  Owned owned = even_share<T>(map, s.batch, call);
  const std::int64_t bins = worth_a_list<T>(context, call, rois, map) ? rois.bins() : 0;  // of a RoI that is listed
  const Owned of_list = bins > 0 ? owned_of_listed<T>(map, s.batch, call, owned.in_place) : owned;
  const PixelBands bands{of_list.band_log, map.pixels};
  const double additions = rois.additions() * static_cast<double>(rois.count());
  const bool many = additions >= kMany * static_cast<double>(s.batch * map.pixels);
  const bool all_touched = owned.in_place || many;
  auto arrays = allocate<ListArrays<A>>(context.arena, rois.count(), all_touched ? 0 : s.batch, map.pixels,
                                        bins > 0 ? runs_of(rois).count() : 0, bins > 0 ? s.batch : 0, bands.count());
  if (!arrays) return no_memory(call);
  arrays->order.sort(context, call, [&](std::int64_t roi) { return rois.place(roi); });
  const std::int64_t pixels = bins > 0 ? measure(context, call, rois, arrays->order, arrays->list) : 0;
  const std::int64_t elements = s.batch * map.image() + rois.count() * bins * s.c;
  const bool listed = bins > 0 && pixels <= elements / 4;  // no more memory than the tensors take
  if (listed) owned = of_list;
  if (!listed && many && has_tail(map.channels)) owned.in_place = false;
  if (!owned.in_place) owned.channels = std::min(owned.channels, power_of_two(map.channels));
  if (!all_touched) find_touched(context, call, rois, arrays->touched);
  const ChannelSums<T> sums{static_cast<T*>(p.grad_input), map, s.batch, all_touched ? nullptr : &arrays->touched};
  const auto room = allocate<SumArrays<A>>(context.sums, sums.slots(call, owned), sums.most_rows(), owned.channels,
                                           listed ? pixels : 0, listed ? call.threads : 0);
  if (!room) return no_memory(call);
  if (listed) fill(context, call, rois, arrays->order, bands, *room, arrays->list);
  sums.run(context, call, owned, additions, room->sums, [&](const BandTask& task, A* to, std::int64_t step) HWY_ATTR {
    const auto placed = arrays->order.of_image(task.image);
    if (placed.empty()) return;
    const std::int64_t count = owned.in_place ? task.count() : std::min(step, padded(task.count()));
    Adder<T> adder(p, task, count, to, step, sums.places(task.image));
    listed ? adder.add_listed(arrays->list, arrays->order, placed) : adder.add_found(placed);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::sampled_gradient::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_FUNCTION(add_samples, sampled_gradient, sum_samples, SampledGradient, with_element)
