// Panels: pixels of an NCHW image x a block of its channels, a pixel's block in one cache line of sums, for kernels
// that read or add to pixels in any order. Planes are transposed 16 pixels at a time. Include after foreach_target.h,
// like simd-inl.h.
#include "backends/cpu/layout/channel_block.h"
#include "backends/cpu/layout/touched.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

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
  /// Prefetches channels [first, end) of an image into the second cache. Inlined, like prefetch_bytes.
  template <class T>
  HWY_INLINE void fetch_run(const T* images, std::int64_t image_index, std::int64_t first, std::int64_t end) const {
    const T* run = images + at(image_index, first);
    if (planes) return prefetch<2>(value_barrier(run), (end - first) * pixels);
    for (std::int64_t i = 0; i < pixels; ++i, run += channels) prefetch<2>(value_barrier(run), end - first);
  }
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

/// panel[pixel][c] = planes[c][pixel] for `channels` planes, kBlockChannels<A> at most, that lie `plane` elements
/// apart; the other channels are 0. `next`: as much memory is prefetched meanwhile, in its order, for whoever reads it
/// afterwards; nullptr: none.
template <class T, class A = Acc<T>>
void fill_panel(std::int64_t pixels, const T* planes, std::int64_t plane, std::int64_t channels, A* HWY_RESTRICT panel,
                const T* next = nullptr) {
  constexpr std::int64_t kChannels = kBlockChannels<A>, kAhead = 4 * kBlockPixels;
  if (channels < kChannels) std::fill_n(panel, pixels * kChannels, A{0});
  for (std::int64_t i = 0; i < pixels; i += kBlockPixels) {
    const std::int64_t count = std::min(kBlockPixels, pixels - i);
    if (next != nullptr) prefetch<2>(value_barrier(next + i * channels), count * channels);
    for (std::int64_t c = 0; c < channels; ++c) __builtin_prefetch(value_barrier(planes + c * plane + i + kAhead));
    take_pixels(planes + i, plane, count, panel + i * kChannels, channels);
  }
}

/// The touched pixels of an image, from its planes `planes`, at their places in a panel. A step takes what lies on one
/// cache line of each plane; meanwhile the next run of pixels is prefetched.
template <class T, class A = Acc<T>>
void fill_panel(const Touched& touched, std::int64_t image, const T* planes, std::int64_t channels,
                A* HWY_RESTRICT panel) {
  constexpr std::int64_t kChannels = kBlockChannels<A>, kLine = kCacheLineBytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t plane = touched.pixels(), end = touched.first_block(image + 1);
  if (channels < kChannels) std::fill_n(panel, touched.rows(image) * kChannels, A{0});
  auto run = touched.run(touched.first_block(image), end);
  for (A* to = panel; run.pixels > 0;) {
    const auto next = touched.run(run.end, end);
    for (std::int64_t c = 0; next.pixels > 0 && c < channels; ++c) {
      prefetch<2>(value_barrier(planes + c * plane + next.pixel), next.pixels);
    }
    for (std::int64_t i = 0, count; i < run.pixels; i += count, to += count * kChannels) {
      const T* const from = planes + run.pixel + i;
      count = std::min({run.pixels - i, kBlockPixels, kLine - in_line(from)});
      take_pixels(from, plane, count, to, channels);
    }
    run = next;
  }
}

/// Pixels that leave a panel together are several cache lines of each plane: a line that is stored in parts past the
/// caches costs memory more than many lines.
inline constexpr std::int64_t kPixelsTogether = 8 * kBlockPixels;

#if HWY_TARGET <= HWY_AVX3
/// z[c] = row c of 16 vectors of floats transposed, as half, and behind it row c + 8: half the shuffles of
/// transpose_square.
HWY_INLINE void transpose_demoted(const hn::Vec<FullTag<Half>>* v, hn::Vec<hn::ScalableTag<std::uint16_t>>* z) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Half<decltype(d)> dh;
  const hn::Rebind<hwy::float16_t, FullTag<Half>> df16;
  MLUOPS_UNROLL
  for (int k = 0; k < 8; ++k) {
    z[k] = hn::Combine(d, hn::BitCast(dh, hn::DemoteTo(df16, v[k + 8])), hn::BitCast(dh, hn::DemoteTo(df16, v[k])));
  }
  transpose_16bit(d, z);
  MLUOPS_UNROLL
  for (int c = 0; c < 8; ++c) z[c] = pick_blocks<0, 2, 1, 3>(d, z[c], z[c]);
}

/// Pixels of all channels of a panel of half, a multiple of 32, to whole cache lines with non-temporal stores.
inline void put_lines(const float* panel, std::int64_t width, std::int64_t pixels, Half* planes, std::int64_t plane) {
  const hn::ScalableTag<std::uint16_t> d;
  const FullTag<Half> df;
  constexpr std::int64_t lanes = kLanes<float>;
  for (std::int64_t i = 0; i < pixels; i += 2 * lanes) {
    hn::Vec<decltype(d)> z[2][8];
    MLUOPS_UNROLL
    for (std::int64_t t = 0; t < 2; ++t, panel += lanes * width) {
      hn::Vec<decltype(df)> v[lanes];
      MLUOPS_UNROLL
      for (std::int64_t k = 0; k < lanes; ++k) v[k] = hn::LoadU(df, panel + k * width);
      transpose_demoted(v, z[t]);
    }
    MLUOPS_UNROLL
    for (std::int64_t c = 0; c < 8; ++c) {
      hn::Stream(hn::ConcatLowerLower(d, z[1][c], z[0][c]), d, &planes[c * plane + i].bits);
      hn::Stream(hn::ConcatUpperUpper(d, z[1][c], z[0][c]), d, &planes[(c + 8) * plane + i].bits);
    }
  }
}
#endif

/// planes[c][pixel] = panel[pixel][c] for so many channels of at most kPixelsTogether pixels, rounded. Pixels of the
/// panel lie `width` elements apart.
template <class T, class A = Acc<T>>
void put_together(const A* panel, std::int64_t pixels, std::int64_t channels, T* planes, std::int64_t plane,
                  bool non_temporal, std::int64_t width = kBlockChannels<A>) {
  constexpr std::int64_t kChannels = kBlockChannels<A>;
  if constexpr (std::is_same_v<T, A>) {
    return transpose_panel(non_temporal, panel, width, pixels, channels, planes, plane);
  }
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<T, Half>) {
    const bool lines = pixels % 32 == 0 && whole_lines(planes, plane * static_cast<std::int64_t>(sizeof(T)));
    if (non_temporal && lines && channels == kChannels) return put_lines(panel, width, pixels, planes, plane);
  }
#endif
  HWY_ALIGN A stage[kChannels * kPixelsTogether];
  transpose_panel(panel, width, pixels, channels, stage, kPixelsTogether);
  for (std::int64_t c = 0; c < channels; ++c) {
    store_row(non_temporal, stage + c * kPixelsTogether, planes + c * plane, pixels);
  }
}

/// planes[c][pixel] = panel[pixel][c] for so many channels, rounded, with non-temporal stores or not.
template <class T, class A = Acc<T>>
void empty_panel(std::int64_t pixels, const A* panel, std::int64_t channels, T* planes, bool non_temporal) {
  for (std::int64_t i = 0; i < pixels; i += kPixelsTogether) {
    put_together(panel + i * kBlockChannels<A>, std::min(kPixelsTogether, pixels - i), channels, planes + i, pixels,
                 non_temporal);
  }
}

/// empty_panel that leaves zeros in the panel.
template <class T, class A = Acc<T>>
void drain_panel(std::int64_t pixels, A* panel, std::int64_t channels, T* planes, bool non_temporal) {
  for (std::int64_t i = 0; i < pixels; i += kPixelsTogether, panel += kPixelsTogether * kBlockChannels<A>) {
    const std::int64_t count = std::min(kPixelsTogether, pixels - i);
    put_together(panel, count, channels, planes + i, pixels, non_temporal);
    std::fill_n(panel, count * kBlockChannels<A>, A{0});
  }
}

/// planes[c][i] = block[i][c], non-temporally or not; rows of the block are `width` elements apart, planes `pitch`.
/// Short planes that follow each other leave together: each by itself is a few parts of cache lines.
template <class E>
void rows_to_planes(bool non_temporal, const E* block, std::int64_t width, std::int64_t pixels, std::int64_t channels,
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

/// to[c][r] = from[r][c]; rows lie `pitch` and `to_pitch` elements apart. A step takes what lies on one cache line of a
/// row. Meanwhile `next_columns` of each row at `next` are prefetched into the second cache.
template <class E>
void transpose_strip(const E* from, const E* next, std::int64_t next_columns, std::int64_t rows, std::int64_t columns,
                     std::int64_t pitch, bool non_temporal, E* to, std::int64_t to_pitch) {
  constexpr std::int64_t kLine = kCacheLineBytes / static_cast<std::int64_t>(sizeof(E));
  const std::int64_t run = whole_lines(to, to_pitch * static_cast<std::int64_t>(sizeof(E))) ? kLine : rows;
  for (std::int64_t c = 0, width, ahead = 0; c < columns; c += width) {
    width = std::min(kLine - in_line(from + c), columns - c);
    const bool last = c + width == columns;
    const std::int64_t fetched = last ? next_columns - ahead : std::min(kLine, next_columns - ahead);
    for (std::int64_t first = 0; first < rows; first += run) {
      const std::int64_t end = std::min(rows, first + run);
      for (std::int64_t r = first; fetched > 0 && r < end; ++r) prefetch<2>(next + r * pitch + ahead, fetched);
      rows_to_planes(non_temporal, from + first * pitch + c, pitch, end - first, width, to + c * to_pitch + first,
                     to_pitch);
    }
    ahead += fetched;
  }
}

}  // namespace mluops::cpu::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
