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
  const std::int64_t even = round_up(ceil_div(map.channels * images, 2 * call.threads), kLeast);
  return {std::clamp(even, kLeast, 16 * kLeast), kAddsInPlace<T> && !map.planes};
}

template <class A>
struct RoiGradientArrays {
  RoiOrder order;
  A* sums;  ///< of the tasks of all threads

  RoiGradientArrays(Allocator& allocator, std::int64_t rois, std::int64_t sum_count)
      : order(allocator, rois), sums(allocator.allocate<A>(sum_count)) {}
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
        add(task, owned, owned.in_place ? nullptr : sums + slot * map.pixels * owned.channels);
      }
      non_temporal_fence();
    });
  }

 private:
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
    if (!owned.in_place) empty(scratch, owned.channels, task.count(), to);
  }
  /// `step`: from a pixel's sums to those of the next.
  template <class Step>
  void add_rois(const layout::ChannelTask& task, A* to, Step step) const {
    const std::int64_t run = task.count() == step ? map.pixels : 1;  // pixels whose sums follow each other
    for (std::int64_t i = 0; i < map.pixels; i += run) std::fill_n(to + i * step, run * task.count(), A{0});
    const auto placed = order.of_image(task.image);
    for (std::size_t i = 0; i < placed.size(); ++i) {
      constexpr std::size_t kAhead = 4;
      if (i + kAhead < placed.size()) rois.fetch(placed[i + kAhead].roi, task.first, task.end);
      rois.add(placed[i].roi, task.first, task.end,
               [&](std::int64_t pixel, std::int64_t c, A value) { to[pixel * step + c - task.first] += value; });
    }
  }
  void empty(const A* sums, std::int64_t width, std::int64_t channels, T* to) const {
    if (map.planes && width == 1) return store_row(large(), sums, to, map.pixels);
    if (map.planes) {
      using namespace layout::HWY_NAMESPACE;
      constexpr std::int64_t kBlock = layout::kBlockChannels<A>, kPixels = kPixelsTogether;
      for (std::int64_t c = 0; c < channels; c += kBlock) {
        for (std::int64_t i = 0; i < map.pixels; i += kPixels) {
          put_together(sums + i * width + c, std::min(kPixels, map.pixels - i), std::min(kBlock, channels - c),
                       to + c * map.pixels + i, map.pixels, large(), width);
        }
      }
      return;
    }
    constexpr std::int64_t kLine = kCacheLineBytes / static_cast<std::int64_t>(sizeof(T));
    const bool lines =
        large() && channels % kLine == 0 && whole_lines(to, map.channels * static_cast<std::int64_t>(sizeof(T)));
    for (std::int64_t pixel = 0; pixel < map.pixels; ++pixel) {
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
  const std::int64_t sums = owned.in_place ? 0 : call.threads * map.pixels * owned.channels;
  auto arrays = allocate<RoiGradientArrays<Acc<T>>>(context.arena, rois.count(), sums);
  if (!arrays) return no_memory(call);
  arrays->order.sort([&](std::int64_t roi) HWY_ATTR { return rois.place(roi); });
  ChannelSums<T, Rois>{static_cast<T*>(p.grad_input), map, s.batch, arrays->order, rois}.run(context, call, owned,
                                                                                             arrays->sums);
  return MLUOP_STATUS_SUCCESS;
}

/// Rois{p}: count() of them; place(roi), a PlacedRoi; additions() of one to a channel; kOwnPixels, add and fetch as
/// ChannelSums has them.
template <class T, class Rois, class Problem>
mluOpStatus_t roi_gradient(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {{"owner", always<Problem>, add_rois<T, Rois, Problem>}};
  return run_path(context, call, p, kPaths);
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
