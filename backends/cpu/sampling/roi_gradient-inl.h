// grad_input of a call whose RoIs (or grids) each add to an image, at pixels which the data choose, each channel at its
// own. Include after foreach_target.h, like simd-inl.h.
//
// A task owns some channels of an image, or of a band of it (Owned); it adds the RoIs of the image to them, in their
// order, so results are bitwise equal for every number of threads. Where several tasks would find the samples of the
// same RoIs, these are found once for all before (sample_list.h).
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/roi_order.h"
#include "backends/cpu/sampling/sample_list.h"
#include "backends/cpu/scatter/scatter.h"

#if defined(MLUOPS_CPU_SAMPLING_ROI_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SAMPLING_ROI_GRADIENT_INL_H_
#else
#define MLUOPS_CPU_SAMPLING_ROI_GRADIENT_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// What a task owns: so many channels of an image, and where their sums are.
struct Owned {
  std::int64_t channels;
  bool in_place;                      ///< in the gradient, else in scratch, the channels of a pixel side by side
  int band_log = PixelBands::kWhole;  ///< of a band's pixels; bands are only in place
};

/// A task: channels [first, end) of pixels [low, high) of an image, a band.
struct BandTask : layout::ChannelTask {
  std::int64_t band, low, high;  ///< the band among those of all images

  static BandTask of(const layout::Elements& map, const Owned& owned, std::int64_t item) {
    const PixelBands bands{owned.band_log, map.pixels};
    const std::int64_t groups = ceil_div(map.channels, owned.channels), first = item % groups * owned.channels;
    const std::int64_t all = item / groups, image = all / bands.count(), band = all % bands.count();
    return {
        {image, first, std::min(map.channels, first + owned.channels)}, all, bands.begin(band), bands.begin(band + 1)};
  }
};

/// kOwnPixels: each channel adds at pixels of its own. Then NCHW's planes one after the other need no transposes, and a
/// plane is soon in the first caches; and NHWC's sums are panels, since pixels a power of two apart displace each
/// other, unless so few `additions` to a channel come that clearing and emptying panels would cost more.
template <class T, bool kOwnPixels>
Owned owned_by_task(const layout::Elements& map, std::int64_t images, double additions, const mluopsCall& call) {
  constexpr std::int64_t kLeast = layout::kBlockChannels<Acc<T>>;
  constexpr double kFew = 0.5;  // for a pixel
  if (kOwnPixels && map.planes) return {1, kAddsInPlace<T>};
  const bool few = kAddsInPlace<T> && additions <= kFew * static_cast<double>(images * map.pixels);
  if (kOwnPixels && !few) return {kLeast, false};
  const std::int64_t parts = call.threads == 1 ? 1 : 2 * call.threads;  // a task finds all samples again
  const std::int64_t even = round_up(ceil_div(map.channels * images, parts), kLeast);
  return {std::clamp(even, kLeast, 16 * kLeast), kAddsInPlace<T> && !map.planes};
}

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

template <class A>
struct RoiGradientArrays {
  RoiOrder order;
  layout::Touched touched;
  SampleList<A> list;

  RoiGradientArrays(Allocator& allocator, std::int64_t rois, std::int64_t images, std::int64_t pixels,
                    std::int64_t runs, std::int64_t listed_images, std::int64_t bands)
      : order(allocator, rois), touched(allocator, images, pixels), list(allocator, runs, listed_images, bands) {}
};

/// What a call of a gradient that is not kOwnPixels takes beside them.
template <class A>
struct SumArrays {
  A* sums;
  typename SampleList<A>::Pixel* pixels;

  SumArrays(Allocator& allocator, std::int64_t slots, std::int64_t rows, std::int64_t channels, std::int64_t listed)
      : sums(allocator.allocate<A>(slots, rows, channels)),
        pixels(allocator.allocate<typename SampleList<A>::Pixel>(listed)) {}
};

/// A gradient, and RoIs that add to it in this order: rois.add(roi, first, end, add) calls add(pixel, channel, value)
/// for its channels [first, end), and rois.fetch(roi, first, end) prefetches what that reads.
template <class T, class Rois>
struct ChannelSums {
  using A = Acc<T>;

  T* gradient;
  layout::Elements map;
  std::int64_t images;
  const RoiOrder& order;
  const layout::Touched* touched;  ///< those that sums in scratch are of; nullptr for all pixels
  const SampleList<A>* list;       ///< of the RoIs' samples; nullptr where each task finds them
  Rois rois;

  void run(Context& context, const mluopsCall& call, const Owned& owned, A* sums) const {
    const std::int64_t groups = ceil_div(map.channels, owned.channels);
    const std::int64_t bands = PixelBands{owned.band_log, map.pixels}.count();
    const double rois_of_image = static_cast<double>(rois.count()) / static_cast<double>(images);
    const double channel_ns =
        cost::kScatter * rois.additions() * rois_of_image + 2 * cost::kMove * static_cast<double>(map.pixels);
    const double task_ns = static_cast<double>(owned.channels) * channel_ns / static_cast<double>(bands);
    const Loop loop(context, call, images * bands * groups, task_ns);
    loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
      for (std::int64_t i = begin; i < end; ++i) {
        add(BandTask::of(map, owned, i), owned, owned.in_place ? nullptr : sums + slot * most_rows() * owned.channels);
      }
      non_temporal_fence();
    });
  }

  /// Pixels that a task has sums of in scratch, at most.
  std::int64_t most_rows() const { return touched == nullptr ? map.pixels : touched->most_rows(); }

 private:
  static constexpr std::size_t kAhead = 4;  ///< RoIs

  std::int64_t rows(std::int64_t image) const { return touched == nullptr ? map.pixels : touched->rows(image); }
  layout::RowPlaces places(std::int64_t image) const {
    return touched == nullptr ? layout::RowPlaces() : touched->places(image);
  }
  /// A task, by way of `scratch` where its sums are not in place.
  void add(const BandTask& task, const Owned& owned, A* scratch) const {
    constexpr std::int64_t kBlock = layout::kBlockChannels<A>;
    T* const to = gradient + map.at(task.image, task.first);
    if constexpr (kAddsInPlace<T>) {
      if (owned.in_place) scratch = to;
    }
    if (owned.channels == 1) {
      add_rois(task, scratch, std::integral_constant<std::int64_t, 1>());
    } else if (owned.channels == kBlock && !owned.in_place) {
      add_rois(task, scratch, std::integral_constant<std::int64_t, kBlock>());
    } else {
      add_rois(task, scratch, owned.in_place ? map.channels : owned.channels);
    }
    if (!owned.in_place) put(scratch, owned.channels, task, to);
  }
  /// `step`: from a pixel's sums to those of the next.
  template <class Step>
  void add_rois(const BandTask& task, A* to, Step step) const {
    clear_sums(task, to, step);
    const layout::RowPlaces place = places(task.image);
    const auto add = [&](std::int64_t pixel, std::int64_t c, A value) {
      to[place(pixel) * step + c - task.first] += value;
    };
    const auto placed = order.of_image(task.image);
    if (placed.empty()) return;
    if constexpr (!Rois::kOwnPixels) {
      if (list != nullptr) return add_listed(task, placed, add);
    }
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (i + kAhead < placed.size()) rois.fetch(placed[i + kAhead].roi, task.first, task.end);
      rois.add(placed[i].roi, task.first, task.end, add);
    }
  }
  template <class Add>
  HWY_INLINE void add_listed(const BandTask& task, std::span<const PlacedRoi> placed, const Add& add) const {
    const RoiRuns runs{rois.count(), rois.bins()};
    const std::int64_t first = placed.data() - order.all().data();
    const std::int64_t end = runs.of(first + std::ssize(placed) - 1) + 1;
    std::int64_t next = runs.of(first);  // to be fetched
    std::size_t fetched = 0, added = 0;
    for (std::int64_t run = next; run < end; ++run) {
      const auto samples = list->on(task.band, run);
      if (samples.empty()) continue;
      for (; next < end && fetched < added + kAhead; ++next) {
        const auto of_next = list->on(task.band, next);
        if (of_next.empty()) continue;
        rois.fetch_listed(order, next, of_next, task.first, task.end);
        ++fetched;
      }
      rois.add_listed(order, run, samples, task.first, task.end, add);
      ++added;
    }
  }
  template <class Step>
  void clear_sums(const BandTask& task, A* to, Step step) const {
    const std::int64_t low = touched == nullptr ? task.low : 0,
                       high = touched == nullptr ? task.high : rows(task.image);
    const std::int64_t run = task.count() == step ? high - low : 1;  // pixels whose sums follow each other
    for (std::int64_t i = low; i < high; i += run) std::fill_n(to + i * step, run * task.count(), A{0});
  }
  /// Sums of a task become its part of the gradient, which is 0 where no pixel is touched.
  void put(const A* sums, std::int64_t width, const layout::ChannelTask& task, T* to) const {
    if (touched == nullptr || touched->all(task.image)) return put_run(sums, width, map.pixels, task.count(), to);
    clear(task.count(), to);
    non_temporal_fence();
    const std::int64_t end = touched->first_block(task.image + 1);
    for (auto run = touched->run(touched->first_block(task.image), end); run.pixels > 0;
         run = touched->run(run.end, end)) {
      put_run(sums + places(task.image)(run.pixel) * width, width, run.pixels, task.count(),
              to + run.pixel * map.pixel());
    }
  }
  void clear(std::int64_t channels, T* to) const {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
    if (map.planes) return zero_bytes(large(), to, channels * map.pixels * kSize);
    for (std::int64_t i = 0; i < map.pixels; ++i) zero_bytes(false, to + i * map.channels, channels * kSize);
  }
  /// Pixels next to each other.
  void put_run(const A* sums, std::int64_t width, std::int64_t pixels, std::int64_t channels, T* to) const {
    if (map.planes && width == 1) return store_row(large(), sums, to, pixels);
    if (map.planes) {
      using namespace layout::HWY_NAMESPACE;
      constexpr std::int64_t kBlock = layout::kBlockChannels<A>, kPixels = kPixelsTogether;
      for (std::int64_t c = 0; c < channels; c += kBlock) {
        for (std::int64_t i = 0; i < pixels; i += kPixels) {
          put_together(sums + i * width + c, std::min(kPixels, pixels - i), std::min(kBlock, channels - c),
                       to + c * map.pixels + i, map.pixels, large() && pixels == map.pixels, width);
        }
      }
      return;
    }
    constexpr std::int64_t kLine = kCacheLineBytes / static_cast<std::int64_t>(sizeof(T));
    const bool lines =
        large() && channels % kLine == 0 && whole_lines(to, map.channels * static_cast<std::int64_t>(sizeof(T)));
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      store_row(lines, sums + pixel * width, to + pixel * map.channels, channels);
    }
  }
  /// Whether the gradient leaves the second cache before anyone reads it.
  bool large() const { return images * map.image() * static_cast<std::int64_t>(sizeof(T)) > second_cache(64); }
};

/// Whether several threads share the sums of a call, and its tensors are large beside a list's bins.
template <class T, class Rois>
bool worth_a_list(const Context& context, const mluopsCall& call, const Rois& rois, const layout::Elements& map) {
  if (map.channels < layout::kBlockChannels<Acc<T>> || map.pixels > INT32_MAX) return false;
  const double roi_ns = cost::kElement * rois.additions() * static_cast<double>(map.channels);
  return Loop(context, call, rois.count(), roi_ns).slots() > 1;
}

/// Places the RoIs; with `listed`, measures their samples, and returns how many it has to have room for.
template <class Rois, class Arrays>
std::int64_t place_rois(const Context& context, const mluopsCall& call, const Rois& rois, bool listed, Arrays& arrays) {
  arrays.order.sort(context, call, [&](std::int64_t roi) HWY_ATTR { return rois.place(roi); });
  if constexpr (!Rois::kOwnPixels) {
    if (!listed) return 0;
    const RoiRuns runs{rois.count(), rois.bins()};
    const auto placed = arrays.order.all();
    const double run_ns = 20 * cost::kStep * static_cast<double>(runs.each());
    Loop(context, call, runs.count(), run_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
      for (std::int64_t run = begin; run < end; ++run) {
        double pixels = 0;
        for (std::int64_t i = runs.begin(run); i < runs.begin(run + 1); ++i) {
          pixels += rois.most_pixels(placed[static_cast<std::size_t>(i)].roi);
        }
        arrays.list.measure(run, pixels);
      }
    });
    return arrays.list.measured();
  }
  return 0;
}

template <class T, class Rois, class Problem>
mluOpStatus_t add_rois(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const auto& s = p.shape;
  const Rois rois{p};
  const layout::Elements map{s.h * s.w, s.c, p.layout == MLUOP_LAYOUT_NCHW};
  const double additions = rois.additions() * static_cast<double>(rois.count());
  Owned owned = owned_by_task<T, Rois::kOwnPixels>(map, s.batch, additions, call);
  const bool moves = !owned.in_place && !Rois::kOwnPixels;
  std::int64_t bins = 0;  // of a RoI that is listed
  if constexpr (!Rois::kOwnPixels) bins = worth_a_list<T>(context, call, rois, map) ? rois.bins() : 0;
  const Owned of_list = bins > 0 ? owned_of_listed<T>(map, s.batch, call, owned.in_place) : owned;
  const PixelBands bands{of_list.band_log, map.pixels};
  auto arrays = allocate<RoiGradientArrays<A>>(context.arena, rois.count(), moves ? s.batch : 0, map.pixels,
                                               bins > 0 ? RoiRuns{rois.count(), bins}.count() : 0,
                                               bins > 0 ? s.batch : 0, bands.count());
  if (!arrays) return no_memory(call);
  const std::int64_t pixels = place_rois(context, call, rois, bins > 0, *arrays);
  const std::int64_t elements = s.batch * map.image() + rois.count() * bins * s.c;
  const bool listed = bins > 0 && pixels <= elements / 4;  // no more memory than the tensors take
  if constexpr (!Rois::kOwnPixels) {
    if (listed) owned = of_list;
    if (moves) rois.find_touched(context, call, arrays->touched);
  }
  const ChannelSums<T, Rois> sums{
      static_cast<T*>(p.grad_input),    map, s.batch, arrays->order, moves ? &arrays->touched : nullptr,
      listed ? &arrays->list : nullptr, rois};
  const auto room = allocate<SumArrays<A>>(context.sums, owned.in_place ? 0 : call.threads, sums.most_rows(),
                                           owned.channels, listed ? pixels : 0);
  if (!room) return no_memory(call);
  if constexpr (!Rois::kOwnPixels) {
    if (listed) rois.fill(context, call, arrays->order, bands, room->pixels, arrays->list);
  }
  sums.run(context, call, owned, room->sums);
  return MLUOP_STATUS_SUCCESS;
}

/// Rois{p}: count() of them; place(roi), a PlacedRoi; additions() of one to a channel; kOwnPixels, add and fetch as
/// ChannelSums has them; and if not kOwnPixels, bins() of a RoI, find_touched(context, call, touched), most_pixels(roi)
/// of its samples, fill(context, call, order, bands, pixels, list), and add_listed and fetch_listed, which are add and
/// fetch by a list.
template <class T, class Rois, class Problem>
mluOpStatus_t roi_gradient(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {{"owner", always<Problem>, add_rois<T, Rois, Problem>}};
  return run_path(context, call, p, kPaths);
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
