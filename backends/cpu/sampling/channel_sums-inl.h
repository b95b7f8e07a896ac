// Sums of a gradient's channels, for calls whose RoIs (or grids) each add to an image at pixels which the data choose.
// Include after foreach_target.h, like simd-inl.h.
//
// A task owns some channels of an image, or of a band of it (Owned), and adds the RoIs of the image to them, in their
// order, so results are bitwise equal for every number of threads.
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/sampling/sample_list.h"
#include "backends/cpu/scatter/scatter.h"

#if defined(MLUOPS_CPU_SAMPLING_CHANNEL_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SAMPLING_CHANNEL_SUMS_INL_H_
#else
#define MLUOPS_CPU_SAMPLING_CHANNEL_SUMS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// What a task owns: so many channels of an image, and where their sums are.
struct Owned {
  std::int64_t channels;
  bool in_place;  ///< in the gradient (one channel of NCHW), else in scratch, a pixel's side by side
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

/// So many channels that each thread has two tasks, but some at least.
template <class T>
Owned even_share(const layout::Elements& map, std::int64_t images, const mluopsCall& call) {
  constexpr std::int64_t kLeast = layout::kBlockChannels<Acc<T>>;
  const std::int64_t tasks = call.threads == 1 ? 1 : 2 * call.threads;
  const std::int64_t even = round_up(ceil_div(map.channels * images, tasks), kLeast);
  return {std::clamp(even, kLeast, 16 * kLeast), kAddsInPlace<T> && !map.planes};
}

/// Sums of tasks in scratch.
template <class A>
struct SumScratch {
  A* sums;

  SumScratch(Allocator& allocator, std::int64_t slots, std::int64_t rows, std::int64_t channels)
      : sums(allocator.allocate<A>(slots, rows, channels)) {}
};

/// A gradient and the sums of its tasks.
template <class T>
struct ChannelSums {
  using A = Acc<T>;

  T* gradient;
  layout::Elements map;
  std::int64_t images;
  const layout::Touched* touched;  ///< those that sums in scratch are of; nullptr for all pixels

  /// add(task, sums, step) for each task: adds what its channels of a pixel get, from sums + place * step on.
  /// `additions`: how many a channel gets in all; `scratch`: for each thread, if the sums are not in place.
  template <class Add>
  void run(Context& context, const mluopsCall& call, const Owned& owned, double additions, A* scratch,
           const Add& add) const {
    const std::int64_t groups = ceil_div(map.channels, owned.channels);
    const std::int64_t bands = PixelBands{owned.band_log, map.pixels}.count();
    const double of_image = additions / static_cast<double>(images);
    const double channel_ns = cost::kScatter * of_image + 2 * cost::kMove * static_cast<double>(map.pixels);
    const double task_ns = static_cast<double>(owned.channels) * channel_ns / static_cast<double>(bands);
    Loop(context, call, images * bands * groups, task_ns)
        .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
          A* const own = owned.in_place ? nullptr : scratch + slot * most_rows() * owned.channels;
          for (std::int64_t i = begin; i < end; ++i) run_task(BandTask::of(map, owned, i), owned, own, add);
          non_temporal_fence();
        });
  }
  /// Threads that have sums in scratch: no more than tasks.
  std::int64_t slots(const mluopsCall& call, const Owned& owned) const {
    const std::int64_t tasks = images * ceil_div(map.channels, owned.channels);
    return owned.in_place ? 0 : std::min<std::int64_t>(call.threads, tasks);
  }
  /// Pixels that a task has sums of in scratch, at most.
  std::int64_t most_rows() const { return touched == nullptr ? map.pixels : touched->most_rows(); }
  layout::RowPlaces places(std::int64_t image) const {
    return touched == nullptr ? layout::RowPlaces() : touched->places(image);
  }

 private:
  std::int64_t rows(std::int64_t image) const { return touched == nullptr ? map.pixels : touched->rows(image); }
  template <class Add>
  void run_task(const BandTask& task, const Owned& owned, A* scratch, const Add& add) const {
    T* const to = gradient + map.at(task.image, task.first);
    A* sums = scratch;
    if constexpr (kAddsInPlace<T>) {
      if (owned.in_place) sums = to;
    }
    const std::int64_t step = owned.in_place ? map.pixel() : owned.channels;
    clear_sums(task, sums, step, owned.in_place ? task.count() : step);
    add(task, sums, step);
    if (!owned.in_place) put(sums, owned.channels, task, to);
  }
  /// `width`: sums of a pixel.
  void clear_sums(const BandTask& task, A* to, std::int64_t step, std::int64_t width) const {
    const std::int64_t low = touched == nullptr ? task.low : 0,
                       high = touched == nullptr ? task.high : rows(task.image);
    const std::int64_t run = width == step ? high - low : 1;  // pixels whose sums follow each other
    for (std::int64_t i = low; i < high; i += run) std::fill_n(to + i * step, run * width, A{0});
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
    if (map.planes || channels == map.channels) return zero_bytes(large(), to, channels * map.pixels * kSize);
    for (std::int64_t i = 0; i < map.pixels; ++i) zero_bytes(false, to + i * map.channels, channels * kSize);
  }
  /// Pixels next to each other.
  void put_run(const A* sums, std::int64_t width, std::int64_t pixels, std::int64_t channels, T* to) const {
    if (map.pixel() == 1 && width == 1) return store_row(large(), sums, to, pixels);
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

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
