// Some channels of an NCHW image as rows of pixels in scratch. Include after foreach_target.h, like simd-inl.h.
//
// A task that works on channels [c, c + kBlockChannels) of an image reads blocks of 16 pixels of those planes once and
// transposes them into pixels in scratch, where the channels of a pixel are one cache line of sums.
#if defined(MLUOPS_CPU_LAYOUT_CHANNEL_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_LAYOUT_CHANNEL_BLOCK_INL_H_
#else
#define MLUOPS_CPU_LAYOUT_CHANNEL_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/layout/channel_block.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::layout::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Vectors of the channels of a pixel in scratch.
template <class A>
inline constexpr int kBlockVectors = static_cast<int>(kBlockChannels<A>) / kLanes<A>;

/// `pixels` neighbouring pixels, 16 at most, of `channels` planes that lie `plane` elements apart; what is beyond these
/// channels may be anything.
template <class T, class A = Acc<T>>
HWY_INLINE void take_pixels(const T* planes, std::int64_t plane, std::int64_t pixels, A* HWY_RESTRICT to,
                            std::int64_t channels = kBlockChannels<A>) {
  constexpr std::int64_t kChannels = kBlockChannels<A>;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<A, float>) {
    if (pixels == kBlockPixels) {
      if constexpr (std::is_same_v<T, A>) {
        if (channels == kChannels) return transpose_tile<false>(hn::ScalableTag<A>(), planes, plane, to, kChannels);
      }
      const hn::ScalableTag<A> d;
      hn::Vec<decltype(d)> v[kBlockPixels];
      MLUOPS_UNROLL
      for (std::int64_t c = 0; c < kChannels; ++c) v[c] = load(d, planes + std::min(c, channels - 1) * plane);
      transpose_square<A>(v);
      MLUOPS_UNROLL
      for (std::int64_t i = 0; i < kBlockPixels; ++i) hn::StoreU(v[i], d, to + i * kChannels);
      return;
    }
  }
#endif
  if constexpr (std::is_same_v<T, A>) {
    transpose_panel(planes, plane, channels, pixels, to, kChannels);
  } else {
    HWY_ALIGN Moved<T> stage[kBlockPixels * kChannels] = {};
    transpose_panel(reinterpret_cast<const Moved<T>*>(planes), plane, channels, pixels, stage, kChannels);
    load_row(reinterpret_cast<const T*>(stage), to, pixels * kChannels);
  }
}

/// The inverse.
template <class T, class A = Acc<T>>
HWY_INLINE void put_pixels(const A* HWY_RESTRICT from, std::int64_t pixels, std::int64_t channels, T* planes,
                           std::int64_t plane) {
  constexpr std::int64_t kChannels = kBlockChannels<A>;
  HWY_ALIGN A stage[kBlockPixels * kChannels];
  transpose_panel(from, kChannels, pixels, kChannels, stage, kBlockPixels);
  for (std::int64_t c = 0; c < channels; ++c) store_row(false, stage + c * kBlockPixels, planes + c * plane, pixels);
}

}  // namespace mluops::cpu::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
