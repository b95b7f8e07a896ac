// Some channels of an NCHW image as rows of pixels in scratch. Include after foreach_target.h, like simd-inl.h.
//
// A task that works on channels [c, c + kBlockChannels) of an image reads blocks of 16 pixels of those planes once and
// transposes them into a ring of pixels in its second cache, where the channels of a pixel are one cache line of sums;
// a pixel lies in the ring until those a whole ring further come.
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

#if HWY_TARGET <= HWY_AVX3
/// 16 x 16 floats transposed. Blocks of four are put together where they are loaded, which leaves half the shuffles.
HWY_INLINE void transpose_16(const float* HWY_RESTRICT from, std::int64_t from_stride, float* HWY_RESTRICT to,
                             std::int64_t to_stride) {
  const hn::ScalableTag<float> d;
  MLUOPS_UNROLL
  for (int g = 0; g < 16; g += 4) {
    hn::Vec<decltype(d)> v[4];
    MLUOPS_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float* const p = from + i * from_stride + g;
      auto blocks = _mm512_castps128_ps512(_mm_loadu_ps(p));
      blocks = _mm512_mask_broadcast_f32x4(blocks, 0x00f0, _mm_loadu_ps(p + 4 * from_stride));
      blocks = _mm512_mask_broadcast_f32x4(blocks, 0x0f00, _mm_loadu_ps(p + 8 * from_stride));
      v[i].raw = _mm512_mask_broadcast_f32x4(blocks, 0xf000, _mm_loadu_ps(p + 12 * from_stride));
    }
    transpose_in_blocks(d, v);
    MLUOPS_UNROLL
    for (int i = 0; i < 4; ++i) hn::StoreU(v[i], d, to + (g + i) * to_stride);
  }
}
#endif

/// `pixels` neighbouring pixels, 16 at most, of kBlockChannels planes that lie `plane` elements apart.
template <class T, class A = Acc<T>>
HWY_INLINE void take_pixels(const T* planes, std::int64_t plane, std::int64_t pixels, A* HWY_RESTRICT to) {
  constexpr std::int64_t kChannels = kBlockChannels<A>;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<A, float>) {
    if (pixels == kBlockPixels) {
      if constexpr (std::is_same_v<T, A>) return transpose_16(planes, plane, to, kChannels);
      const hn::ScalableTag<A> d;
      hn::Vec<decltype(d)> v[kBlockPixels];
      MLUOPS_UNROLL
      for (std::int64_t c = 0; c < kChannels; ++c) v[c] = load(d, planes + c * plane);
      transpose_square<A>(v);
      MLUOPS_UNROLL
      for (std::int64_t i = 0; i < kBlockPixels; ++i) hn::StoreU(v[i], d, to + i * kChannels);
      return;
    }
  }
#endif
  if constexpr (std::is_same_v<T, A>) {
    transpose_panel(planes, plane, kChannels, pixels, to, kChannels);
  } else {
    HWY_ALIGN Moved<T> stage[kBlockPixels * kChannels];
    transpose_panel(reinterpret_cast<const Moved<T>*>(planes), plane, kChannels, pixels, stage, kChannels);
    load_row(reinterpret_cast<const T*>(stage), to, pixels * kChannels);
  }
}

/// The inverse for channels [first, kBlockChannels) of so many pixels.
template <class T, class A = Acc<T>>
HWY_INLINE void put_pixels(const A* HWY_RESTRICT from, std::int64_t pixels, std::int64_t first, T* planes,
                           std::int64_t plane, bool non_temporal) {
  constexpr std::int64_t kChannels = kBlockChannels<A>;
  HWY_ALIGN A stage[kBlockPixels * kChannels];
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<A, float>) {
    if (pixels == kBlockPixels) {
      if (std::is_same_v<T, A> && first == 0 && !non_temporal) {
        return transpose_16(from, kChannels, reinterpret_cast<float*>(planes), plane);
      }
      transpose_16(from, kChannels, stage, kBlockPixels);
    } else {
      transpose_panel(from, kChannels, pixels, kChannels, stage, kBlockPixels);
    }
  } else {
    transpose_panel(from, kChannels, pixels, kChannels, stage, kBlockPixels);
  }
#else
  transpose_panel(from, kChannels, pixels, kChannels, stage, kBlockPixels);
#endif
  for (std::int64_t c = first; c < kChannels; ++c) {
    store_row(non_temporal, stage + c * kBlockPixels, planes + c * plane, pixels);
  }
}

/// A ring of pixels that hold all rows of an image or a power of two of them.
template <class A>
class PixelRing {
 public:
  PixelRing(const RingSize& size, A* pixels) : size_(size), pixels_(pixels) {}

  /// Where a row of pixels begins; its pixels follow one another.
  HWY_INLINE A* row(std::int64_t y) const { return pixels_ + size_.row(y) * kBlockChannels<A>; }

  /// Block `block` of the image whose planes begin at `planes`.
  template <class T>
  HWY_INLINE void take(const T* planes, std::int64_t plane, std::int64_t block) const {
    constexpr std::int64_t kChannels = kBlockChannels<A>;
    const std::int64_t first = block * kBlockPixels, count = std::min(kBlockPixels, plane - first);
    const std::int64_t place = size_.place(first), beyond = place + count - size_.pixels();
    take_pixels(planes + first, plane, count, pixels_ + place * kChannels);
    if (beyond > 0) std::copy_n(pixels_ + size_.pixels() * kChannels, beyond * kChannels, pixels_);
  }
  /// Zeroes block `block` of an image of `plane` pixels.
  HWY_INLINE void zero(std::int64_t plane, std::int64_t block) const {
    for_parts(plane, block, [&](A* pixels, std::int64_t, std::int64_t count) HWY_ATTR {
      const hn::ScalableTag<A> d;
      A* const end = pixels + count * kBlockChannels<A>;
      for (; pixels != end; pixels += kLanes<A>) hn::Store(hn::Zero(d), d, pixels);
    });
  }
  /// Channels [first, kBlockChannels) of a block into the planes of an image. Non-temporal stores only where they make
  /// whole cache lines.
  template <class T>
  HWY_INLINE void put(T* planes, std::int64_t plane, std::int64_t block, std::int64_t first, bool non_temporal) const {
    const bool lines = whole_lines(planes, plane * static_cast<std::int64_t>(sizeof(T))) &&
                       kBlockPixels * static_cast<std::int64_t>(sizeof(T)) >= kCacheLineBytes;
    for_parts(plane, block, [&](A* pixels, std::int64_t pixel, std::int64_t count) HWY_ATTR {
      put_pixels(pixels, count, first, planes + pixel, plane, non_temporal && lines && count == kBlockPixels);
    });
  }

 private:
  /// f(pixels, the first one's number, how many) for the one or two runs that a block is.
  template <class F>
  HWY_INLINE void for_parts(std::int64_t plane, std::int64_t block, F f) const {
    const std::int64_t first = block * kBlockPixels, count = std::min(kBlockPixels, plane - first);
    const std::int64_t place = size_.place(first), before = std::min(count, size_.pixels() - place);
    f(pixels_ + place * kBlockChannels<A>, first, before);
    if (before < count) f(pixels_, first + before, count - before);
  }

  RingSize size_;
  A* pixels_;
};

}  // namespace mluops::cpu::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
