// The gradient of RoIs whose bins are sums of samples, in the images: each sample's pixels get its bin's gradient by
// their weights. channel_sums-inl.h says who owns what.
//
// A task goes through the samples of all RoIs of its image. Where there are several tasks the samples are found once
// for all of them (sample_list.h), unless they would take more memory than the tensors. One multiplication and addition
// a sample and channel, in vectors of channels: bound by the caches the sums lie in.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/sampling/sampled_gradient.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
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

/// Rows of grad_output: the channels of a task of a bin.
template <class T>
class GradRows {
 public:
  using A = Acc<T>;

  GradRows(const SampledGradient& p, std::int64_t first, std::int64_t end)
      : grad_(static_cast<const T*>(p.grad_output)),
        of_({p.rois.bins(), p.shape.c, p.layout == MLUOP_LAYOUT_NCHW}),
        first_(first),
        count_(end - first) {}

  std::int64_t count() const { return count_; }
  /// Until the next call. Bins are those of all RoIs.
  HWY_INLINE const A* row(std::int64_t bin) {
    const T* const from = of_.planes ? transposed(bin) : grad_ + bin * of_.channels + first_;
    if constexpr (std::is_same_v<T, A>) {
      return from;
    } else {
      load_row(from, promoted_, count_);
      return promoted_;
    }
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
  std::int64_t begin_ = 0, end_ = 0;  ///< bins in rows_
  HWY_ALIGN T rows_[kBins * kMost];
  HWY_ALIGN A promoted_[kMost];
};

/// Adds samples to the sums of a task.
template <class T>
class Adder {
 public:
  using A = Acc<T>;
  using List = SampleList<A>;

  Adder(const SampledGradient& p, const BandTask& task, A* to, std::int64_t step, const layout::RowPlaces& places)
      : p_(p), task_(task), rows_(p, task.first, task.end), to_(to), step_(step), places_(places) {}

  /// The samples of these RoIs, found one RoI after the other.
  HWY_INLINE void add_found(std::span<const PlacedRoi> placed) {
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (i + kAhead < placed.size()) rows_.fetch_roi(placed[i + kAhead].roi);
      p_.rois.each(placed[i].roi, [&](std::span<const BinPixel> pixels) HWY_ATTR { add(pixels); });
    }
  }
  /// The listed samples of the RoIs [first, first + placed.size()) of `order`.
  HWY_INLINE void add_listed(const List& list, const RoiOrder& order, std::span<const PlacedRoi> placed) {
    const RoiRuns runs{p_.rois.count(), p_.rois.bins()};
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

  template <class Pixels>
  HWY_INLINE void add(const Pixels& pixels) {
    constexpr std::int64_t kFew = 4, kShort = 32;
    const std::int64_t count = rows_.count();
    if (count < kFew) {
      add_each(pixels, [count](A weight, const A* row, A* sums) {
        for (std::int64_t c = 0; c < count; ++c) sums[c] += weight * row[c];
      });
    } else if (count < kShort) {
      add_each(pixels, [count](A weight, const A* row, A* sums) HWY_ATTR { add_short_row(count, weight, row, sums); });
    } else {
      add_each(pixels, [count](A weight, const A* row, A* sums) HWY_ATTR {
        for_wide<A, 4>(count, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
          const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
          MLUOPS_UNROLL
          for (int v = 0; v < decltype(vectors)::value; ++v, c += lanes) add_lanes(d, weight, row + c, sums + c);
        });
      });
    }
  }
  /// By vectors of at most 32 bytes: wider ones would cross a cache line with every second row.
  static HWY_INLINE void add_short_row(std::int64_t count, A weight, const A* row, A* sums) {
    const hn::CappedTag<A, 32 / sizeof(A)> d;
    const hn::CappedTag<A, 16 / sizeof(A)> half;
    const hn::CappedTag<A, 1> single;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d)), half_lanes = static_cast<std::int64_t>(hn::Lanes(half));
    std::int64_t c = 0;
    for (; c + lanes <= count; c += lanes) add_lanes(d, weight, row + c, sums + c);
    for (; c + half_lanes <= count; c += half_lanes) add_lanes(half, weight, row + c, sums + c);
    for (; c < count; ++c) add_lanes(single, weight, row + c, sums + c);
  }
  template <class D>
  static HWY_INLINE void add_lanes(D d, A weight, const A* row, A* sums) {
    hn::StoreU(hn::Add(hn::LoadU(d, sums), hn::Mul(hn::Set(d, weight), hn::LoadU(d, row))), d, sums);
  }
  template <class Pixels, class Add>
  HWY_INLINE void add_each(const Pixels& pixels, const Add& add_to) {
    const layout::RowPlaces places = places_;
    const std::int64_t step = step_;
    A* const to = to_;
    std::int64_t last = -1;
    const A* row = nullptr;
    for (const auto& at : pixels) {
      if (at.bin != last) row = rows_.row(last = at.bin);
      add_to(static_cast<A>(at.weight), row, to + places(at.pixel) * step);
    }
  }

  const SampledGradient& p_;
  const BandTask& task_;
  GradRows<T> rows_;
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
  const RoiRuns runs{rois.count(), rois.bins()};
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
  const RoiRuns runs{rois.count(), rois.bins()};
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
  const SampledRois& rois = p.rois;
  const auto& s = p.shape;
  const layout::Elements map{s.h * s.w, s.c, p.layout == MLUOP_LAYOUT_NCHW};
  Owned owned = even_share<T>(map, s.batch, call);
  const std::int64_t bins = worth_a_list<T>(context, call, rois, map) ? rois.bins() : 0;  // of a RoI that is listed
  const Owned of_list = bins > 0 ? owned_of_listed<T>(map, s.batch, call, owned.in_place) : owned;
  const PixelBands bands{of_list.band_log, map.pixels};
  auto arrays = allocate<ListArrays<A>>(context.arena, rois.count(), owned.in_place ? 0 : s.batch, map.pixels,
                                        bins > 0 ? RoiRuns{rois.count(), bins}.count() : 0, bins > 0 ? s.batch : 0,
                                        bands.count());
  if (!arrays) return no_memory(call);
  arrays->order.sort(context, call, [&](std::int64_t roi) { return rois.place(roi); });
  const std::int64_t pixels = bins > 0 ? measure(context, call, rois, arrays->order, arrays->list) : 0;
  const std::int64_t elements = s.batch * map.image() + rois.count() * bins * s.c;
  const bool listed = bins > 0 && pixels <= elements / 4;  // no more memory than the tensors take
  if (listed) owned = of_list;
  if (!owned.in_place) find_touched(context, call, rois, arrays->touched);
  const ChannelSums<T> sums{static_cast<T*>(p.grad_input), map, s.batch, owned.in_place ? nullptr : &arrays->touched};
  const auto room = allocate<SumArrays<A>>(context.sums, owned.in_place ? 0 : call.threads, sums.most_rows(),
                                           owned.channels, listed ? pixels : 0, listed ? call.threads : 0);
  if (!room) return no_memory(call);
  if (listed) fill(context, call, rois, arrays->order, bands, *room, arrays->list);
  const double additions = rois.additions() * static_cast<double>(rois.count());
  sums.run(context, call, owned, additions, room->sums, [&](const BandTask& task, A* to, std::int64_t step) HWY_ATTR {
    const auto placed = arrays->order.of_image(task.image);
    if (placed.empty()) return;
    Adder<T> adder(p, task, to, step, sums.places(task.image));
    listed ? adder.add_listed(arrays->list, arrays->order, placed) : adder.add_found(placed);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::sampled_gradient::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_FUNCTION(add_samples, sampled_gradient, sum_samples, SampledGradient, with_element)
