// Gradients of image tensors that bins add to at pixels which the data choose, each channel at its own. Include after
// foreach_target.h, like simd-inl.h.
//
// owner: a task owns a block of channels of an image; it adds the RoIs of the image, in their order, to a panel of
// sums and writes it once: no prior zeroing of the gradient, the same bits for every number of threads.
// atomic: a task owns RoIs and adds to the whole map.
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"

#if defined(MLUOPS_CPU_SCATTER_CHANNEL_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SCATTER_CHANNEL_SUMS_INL_H_
#else
#define MLUOPS_CPU_SCATTER_CHANNEL_SUMS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// Channels of an image that a task owns: a panel's, or in NHWC whole cache lines of every pixel.
template <class A>
std::int64_t owned_channels(const layout::Elements& map, std::int64_t images, const mluopsCall& call) {
  constexpr std::int64_t kLeast = layout::kBlockChannels<A>;
  if (map.planes) return kLeast;
  return std::clamp(round_up(ceil_div(map.channels * images, 2 * call.threads), kLeast), kLeast, 16 * kLeast);
}

/// Elements of sums that ChannelSums needs of T's sums, one panel for each thread or those of the whole map.
template <class T>
std::int64_t owner_sums(const layout::Elements& map, std::int64_t images, const mluopsCall& call) {
  if (kAddsInPlace<T> && !map.planes) return 0;
  return call.threads * map.pixels * owned_channels<Acc<T>>(map, images, call);
}
template <class T>
std::int64_t atomic_sums(const layout::Elements& map, std::int64_t images) {
  return kAddsInPlace<T> ? 0 : images * map.image();
}

/// A gradient, and RoIs that add to it: `rois_of(image)` are elements with a member `roi`, in the order of additions;
/// add_roi(roi, first, end, add) calls add(pixel, channel, value) for its channels [first, end).
template <class T, class RoisOf, class AddRoi>
struct ChannelSums {
  using A = Acc<T>;

  T* gradient;
  layout::Elements map;
  std::int64_t images;
  std::int64_t rois;
  double additions;  ///< of a RoI to a channel
  RoisOf rois_of;
  AddRoi add_roi;

  /// sums: owner_sums() elements.
  void by_owner(Context& context, const mluopsCall& call, A* sums) const {
    const std::int64_t owned = owned_channels<A>(map, images, call), groups = ceil_div(map.channels, owned);
    const double channel_ns = cost::kScatter * additions * static_cast<double>(rois) / static_cast<double>(images) +
                              2 * cost::kMove * static_cast<double>(map.pixels);
    const Loop loop(context, call, images * groups, static_cast<double>(owned) * channel_ns);
    loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = i % groups * owned, last = std::min(map.channels, first + owned);
        T* const to = gradient + map.at(i / groups, first);
        if constexpr (kAddsInPlace<T>) {
          if (!map.planes) {
            add_rois(i / groups, first, last, to, map.channels);
            continue;
          }
        }
        A* const panel = sums + slot * map.pixels * owned;
        add_rois(i / groups, first, last, panel, owned);
        empty(panel, owned, last - first, to);
      }
      non_temporal_fence();
    });
  }

  /// sums: atomic_sums() elements.
  void by_atomics(Context& context, const mluopsCall& call, A* sums) const {
    if constexpr (kAddsInPlace<T>) sums = gradient;
    clear_sums(context, call, sums, images * map.image());
    for (std::int64_t image = 0; image < images; ++image) {
      const auto some = rois_of(image);
      A* const first = sums + image * map.image();
      const double roi_ns = cost::kAtomicAdd * additions * static_cast<double>(map.channels);
      Loop(context, call, std::ssize(some), roi_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t i = begin; i < end; ++i) {
          add_roi(some[static_cast<std::size_t>(i)].roi, 0, map.channels,
                  [&](std::int64_t pixel, std::int64_t c, A value) {
                    atomic_add(first + pixel * map.pixel() + c * map.channel(), value);
                  });
        }
      });
    }
    store_sums<T>(context, call, sums, gradient, images * map.image());
  }

 private:
  /// Channels [first, last) of an image, those of a pixel `step` elements from those of the next.
  void add_rois(std::int64_t image, std::int64_t first, std::int64_t last, A* to, std::int64_t step) const {
    for (std::int64_t pixel = 0; pixel < map.pixels; ++pixel) std::fill_n(to + pixel * step, last - first, A{0});
    const auto add = [&](std::int64_t pixel, std::int64_t c, A value) { to[pixel * step + c - first] += value; };
    for (const auto& placed : rois_of(image)) add_roi(placed.roi, first, last, add);
  }
  void empty(const A* panel, std::int64_t width, std::int64_t channels, T* to) const {
    if (map.planes) return layout::HWY_NAMESPACE::empty_panel<T>(map.pixels, panel, channels, to, large());
    for (std::int64_t pixel = 0; pixel < map.pixels; ++pixel) {
      store_row(panel + pixel * width, to + pixel * map.channels, channels);
    }
  }
  /// Whether the gradient leaves the second cache before anyone reads it.
  bool large() const { return images * map.image() * static_cast<std::int64_t>(sizeof(T)) > second_cache(64); }
};

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
