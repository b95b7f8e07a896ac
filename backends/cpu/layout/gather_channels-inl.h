// Some channels of an NCHW image as pixels with their channels side by side: a block small enough to stay in the
// caches while a kernel works on it. Include after foreach_target.h, like simd-inl.h.
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"

#ifndef MLUOPS_CPU_LAYOUT_GATHER_CHANNELS_ONCE_
#define MLUOPS_CPU_LAYOUT_GATHER_CHANNELS_ONCE_
namespace mluops::cpu::layout {

/// Where the pixels of a plane belong in a block, in pixels of the block: rows may be padded, or be its columns.
struct PixelPlaces {
  std::int64_t width;         ///< of the plane
  std::int64_t step, row;     ///< from a pixel to the next in its row, and from a row to the next
  std::int64_t x = 0, y = 0;  ///< the pixel that is asked for next

  void go_to(std::int64_t pixel) {
    y = pixel / width;
    x = pixel % width;
  }
  std::int64_t next() {
    const std::int64_t place = y * row + x * step;
    const bool last = ++x == width;
    y += last ? 1 : 0;
    x = last ? 0 : x;
    return place;
  }
};

}  // namespace mluops::cpu::layout
#endif

#if defined(MLUOPS_CPU_LAYOUT_GATHER_CHANNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_LAYOUT_GATHER_CHANNELS_INL_H_
#else
#define MLUOPS_CPU_LAYOUT_GATHER_CHANNELS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::layout::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// to[place of pixel i][c] = factor * planes[c][i] for a vector of channels; of fewer `channels`, the last one fills
/// the rest. Pixels of a block are `width` elements apart.
template <class T, class A = Acc<T>>
void gather_vector(const T* HWY_RESTRICT planes, std::int64_t pitch, std::int64_t pixels, std::int64_t channels,
                   A factor, PixelPlaces places, A* HWY_RESTRICT block, std::int64_t width) {
  constexpr std::int64_t lanes = kLanes<A>;
  const hn::ScalableTag<A> d;
  const auto scale = hn::Set(d, factor);
  const T* plane[lanes];
  constexpr std::int64_t kTilesAhead = 4;
  for (std::int64_t c = 0; c < lanes; ++c) plane[c] = planes + std::min(c, channels - 1) * pitch;
  if (pixels < lanes) {
    for (std::int64_t i = 0; i < pixels; ++i) {
      A* const to = block + places.next() * width;
      for (std::int64_t c = 0; c < lanes; ++c) to[c] = factor * to_acc(plane[c][i]);
    }
    return;
  }
  for (std::int64_t next = 0; next < pixels; next += lanes) {
    // The last tile begins early where it would reach over the end.
    const std::int64_t i = std::min(next, pixels - lanes);
    if (i < next) places.go_to(i);
    hn::Vec<decltype(d)> tile[lanes];
    if (const std::int64_t ahead = i + kTilesAhead * lanes; ahead < pixels) {
      MLUOPS_UNROLL
      for (std::int64_t c = 0; c < lanes; ++c) __builtin_prefetch(plane[c] + ahead);
    }
    MLUOPS_UNROLL
    for (std::int64_t c = 0; c < lanes; ++c) tile[c] = hn::Mul(scale, load(d, plane[c] + i));
    transpose_square<A>(tile);
    MLUOPS_UNROLL
    for (std::int64_t k = 0; k < lanes; ++k) hn::StoreU(tile[k], d, block + places.next() * width);
  }
}

/// block[place of pixel i][c] = factor * planes[c][i] for kWidth channels, a multiple of a vector's lanes; of fewer
/// `channels`, the last one fills the rest. `pixels` of each plane, which lie `pitch` elements apart. Vector by vector:
/// more planes side by side are more than a core prefetches.
template <int kWidth, class T, class A = Acc<T>>
void gather_channels(const T* HWY_RESTRICT planes, std::int64_t pitch, std::int64_t pixels, std::int64_t channels,
                     A factor, PixelPlaces places, A* HWY_RESTRICT block) {
  for (std::int64_t c = 0; c < kWidth; c += kLanes<A>) {
    const std::int64_t first = std::min(c, channels - 1);
    gather_vector(planes + first * pitch, pitch, pixels, channels - first, factor, places, block + c, kWidth);
  }
}

/// planes[c][i] = block[i][c], non-temporally or not; rows of the block are `width` elements apart, planes `pitch`.
/// Short planes that follow each other leave together: each by itself is a few parts of cache lines.
template <class E>
void scatter_channels(bool non_temporal, const E* block, std::int64_t width, std::int64_t pixels, std::int64_t channels,
                      E* planes, std::int64_t pitch) {
  constexpr std::int64_t kStage = 16384 / sizeof(E), kLeast = 16;
  const std::int64_t together = kStage / pixels / kLeast * kLeast;
  if (!non_temporal || pitch != pixels || together == 0) {
    return transpose_panel(non_temporal, block, width, pixels, channels, planes, pitch);
  }
  HWY_ALIGN E stage[kStage];
  for (std::int64_t c = 0; c < channels; c += together) {
    const std::int64_t count = std::min(together, channels - c);
    transpose_panel(block + c, width, pixels, count, stage, pixels);
    copy_non_temporal(stage, planes + c * pitch, count * pixels * static_cast<std::int64_t>(sizeof(E)));
  }
}

}  // namespace mluops::cpu::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
