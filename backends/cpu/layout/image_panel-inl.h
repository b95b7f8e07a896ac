// Panels: all pixels of an NCHW image x a block of its channels, a pixel's block in one cache line of sums, for kernels
// that read or add to pixels in any order. Planes are transposed 16 pixels at a time. Include after foreach_target.h,
// like simd-inl.h.
#include "backends/cpu/layout/channel_block-inl.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/prefetch.h"

#ifndef MLUOPS_CPU_LAYOUT_IMAGE_PANEL_ONCE_
#define MLUOPS_CPU_LAYOUT_IMAGE_PANEL_ONCE_
namespace mluops::cpu::layout {

/// Where the elements of image tensors are: n images of `pixels` pixels of `channels` channels.
struct Elements {
  std::int64_t pixels, channels;
  bool planes;  ///< NCHW

  std::int64_t image() const { return pixels * channels; }
  std::int64_t pixel() const { return planes ? 1 : channels; }  ///< from a pixel to the next
  std::int64_t channel() const { return planes ? pixels : 1; }
  /// Index of the first pixel.
  std::int64_t at(std::int64_t image_index, std::int64_t c) const { return image_index * image() + c * channel(); }
};

/// A task: channels [first, end) of an image.
struct ChannelTask {
  std::int64_t image, first, end;

  template <class A>
  static ChannelTask of(std::int64_t item, std::int64_t channels) {
    const std::int64_t blocks = ceil_div(channels, kBlockChannels<A>), first = item % blocks * kBlockChannels<A>;
    return {item / blocks, first, std::min(channels, first + kBlockChannels<A>)};
  }
  std::int64_t count() const { return end - first; }
};

}  // namespace mluops::cpu::layout
#endif

#if defined(MLUOPS_CPU_LAYOUT_IMAGE_PANEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_LAYOUT_IMAGE_PANEL_INL_H_
#else
#define MLUOPS_CPU_LAYOUT_IMAGE_PANEL_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::layout::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// panel[pixel][c] = planes[c][pixel] for `channels` planes, kBlockChannels<A> at most; the others are 0.
template <class T, class A = Acc<T>>
void fill_panel(std::int64_t pixels, const T* planes, std::int64_t channels, A* HWY_RESTRICT panel) {
  constexpr std::int64_t kChannels = kBlockChannels<A>, kAhead = 4 * kBlockPixels;
  if (channels < kChannels) std::fill_n(panel, pixels * kChannels, A{0});
  for (std::int64_t i = 0; i < pixels; i += kBlockPixels) {
    const std::int64_t count = std::min(kBlockPixels, pixels - i);
    if (channels == kChannels) {
      for (std::int64_t c = 0; c < kChannels; ++c) prefetch(value_barrier(planes + c * pixels + i + kAhead), 1);
      take_pixels(planes + i, pixels, count, panel + i * kChannels);
      continue;
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t k = i; k < i + count; ++k) panel[k * kChannels + c] = to_acc(planes[c * pixels + k]);
    }
  }
}

/// planes[c][pixel] = panel[pixel][c] for so many channels, rounded, with non-temporal stores or not.
template <class T, class A = Acc<T>>
void empty_panel(std::int64_t pixels, const A* panel, std::int64_t channels, T* planes, bool non_temporal) {
  constexpr std::int64_t kChannels = kBlockChannels<A>;
  HWY_ALIGN A stage[kChannels * kBlockPixels];
  for (std::int64_t i = 0; i < pixels; i += kBlockPixels) {
    const std::int64_t count = std::min(kBlockPixels, pixels - i);
    transpose_panel(panel + i * kChannels, kChannels, count, kChannels, stage, kBlockPixels);
    for (std::int64_t c = 0; c < channels; ++c) {
      store_row(non_temporal, stage + c * kBlockPixels, planes + c * pixels + i, count);
    }
  }
}

}  // namespace mluops::cpu::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
