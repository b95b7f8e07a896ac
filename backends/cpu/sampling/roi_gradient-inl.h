// grad_input of a call whose RoIs (or grids) each add to an image, at pixels which the data choose, each channel at its
// own. Include after foreach_target.h, like simd-inl.h.
//
// A task owns some channels of an image (owned_by_task); it adds the RoIs of the image to them, in their order: the
// same bits for every number of threads.
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/roi_order.h"
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
  bool in_place;  ///< in the gradient, else in scratch, the channels of a pixel side by side
};

/// kOwnPixels: each channel adds at pixels of its own. Then NCHW's planes one after the other need no transposes, and a
/// plane is soon in the first caches; and NHWC's sums are panels, since pixels a power of two apart displace each
/// other.
template <class T, bool kOwnPixels>
Owned owned_by_task(const layout::Elements& map, std::int64_t images, const mluopsCall& call) {
  constexpr std::int64_t kLeast = layout::kBlockChannels<Acc<T>>;
  if (kOwnPixels && map.planes) return {1, kAddsInPlace<T>};
  if (kOwnPixels) return {kLeast, false};
  const std::int64_t parts = call.threads == 1 ? 1 : 2 * call.threads;  // a task finds all samples again
  const std::int64_t even = round_up(ceil_div(map.channels * images, parts), kLeast);
  return {std::clamp(even, kLeast, 16 * kLeast), kAddsInPlace<T> && !map.planes};
}

struct RoiGradientArrays {
  RoiOrder order;
  layout::Touched touched;

  RoiGradientArrays(Allocator& allocator, std::int64_t rois, std::int64_t images, std::int64_t pixels)
      : order(allocator, rois), touched(allocator, images, pixels) {}
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
  Rois rois;

  void run(Context& context, const mluopsCall& call, const Owned& owned, A* sums) const {
    const std::int64_t groups = ceil_div(map.channels, owned.channels);
    const double rois_of_image = static_cast<double>(rois.count()) / static_cast<double>(images);
    const double channel_ns =
        cost::kScatter * rois.additions() * rois_of_image + 2 * cost::kMove * static_cast<double>(map.pixels);
    const Loop loop(context, call, images * groups, static_cast<double>(owned.channels) * channel_ns);
    loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = i % groups * owned.channels;
        const layout::ChannelTask task = {i / groups, first, std::min(map.channels, first + owned.channels)};
        add(task, owned, owned.in_place ? nullptr : sums + slot * most_rows() * owned.channels);
      }
      non_temporal_fence();
    });
  }

  /// Pixels that a task has sums of in scratch, at most.
  std::int64_t most_rows() const { return touched == nullptr ? map.pixels : touched->most_rows(); }

 private:
  std::int64_t rows(std::int64_t image) const { return touched == nullptr ? map.pixels : touched->rows(image); }
  layout::RowPlaces places(std::int64_t image) const {
    return touched == nullptr ? layout::RowPlaces() : touched->places(image);
  }
  /// A task, by way of `scratch` where its sums are not in place.
  void add(const layout::ChannelTask& task, const Owned& owned, A* scratch) const {
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
  void add_rois(const layout::ChannelTask& task, A* to, Step step) const {
    const std::int64_t pixels = rows(task.image);
    const std::int64_t run = task.count() == step ? pixels : 1;  // pixels whose sums follow each other
    for (std::int64_t i = 0; i < pixels; i += run) std::fill_n(to + i * step, run * task.count(), A{0});
    const layout::RowPlaces place = places(task.image);
    const auto placed = order.of_image(task.image);
    for (std::size_t i = 0; i < placed.size(); ++i) {
      constexpr std::size_t kAhead = 4;
      if (i + kAhead < placed.size()) rois.fetch(placed[i + kAhead].roi, task.first, task.end);
      rois.add(placed[i].roi, task.first, task.end,
               [&](std::int64_t pixel, std::int64_t c, A value) { to[place(pixel) * step + c - task.first] += value; });
    }
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

template <class T, class Rois, class Problem>
mluOpStatus_t add_rois(Context& context, const mluopsCall& call, const Problem& p) {
  const auto& s = p.shape;
  const Rois rois{p};
  const layout::Elements map{s.h * s.w, s.c, p.layout == MLUOP_LAYOUT_NCHW};
  const Owned owned = owned_by_task<T, Rois::kOwnPixels>(map, s.batch, call);
  const bool moves = !owned.in_place && !Rois::kOwnPixels;
  auto arrays = allocate<RoiGradientArrays>(context.arena, rois.count(), moves ? s.batch : 0, map.pixels);
  if (!arrays) return no_memory(call);
  if constexpr (!Rois::kOwnPixels) {
    if (moves) rois.find_touched(context, call, arrays->touched);
  }
  const ChannelSums<T, Rois> sums{static_cast<T*>(p.grad_input),      map, s.batch, arrays->order,
                                  moves ? &arrays->touched : nullptr, rois};
  Acc<T>* const scratch =
      context.sums.reserve_array<Acc<T>>(owned.in_place ? 0 : call.threads, sums.most_rows(), owned.channels);
  if (scratch == nullptr) return no_memory(call);
  arrays->order.sort([&](std::int64_t roi) HWY_ATTR { return rois.place(roi); });
  sums.run(context, call, owned, scratch);
  return MLUOP_STATUS_SUCCESS;
}

/// Rois{p}: count() of them; place(roi), a PlacedRoi; additions() of one to a channel; kOwnPixels, add and fetch as
/// ChannelSums has them; and if not kOwnPixels, find_touched(context, call, touched).
template <class T, class Rois, class Problem>
mluOpStatus_t roi_gradient(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {{"owner", always<Problem>, add_rois<T, Rois, Problem>}};
  return run_path(context, call, p, kPaths);
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
