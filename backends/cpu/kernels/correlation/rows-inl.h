// What both directions of Correlation share: displacements, windows, and images as rows of pixels, a channel after the
// other, so that pixels next to each other are a vector and a displacement is another place to load it from. Include
// after foreach_target.h, like simd-inl.h.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/correlation.h"

#if defined(MLUOPS_CPU_KERNELS_CORRELATION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_KERNELS_CORRELATION_ROWS_INL_H_
#else
#define MLUOPS_CPU_KERNELS_CORRELATION_ROWS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::correlation::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

using Shape = mluopsCorrelationShape;

/// Displacements along an axis, in steps: most each way, of which those up to reach lead to a pixel from some other.
struct Displacements {
  std::int64_t size, step, most, reach;

  Displacements(std::int64_t size_, std::int64_t step_, std::int64_t most_)
      : size(size_), step(step_), most(most_), reach(std::min(most_, (size_ - 1) / step_)) {}
  std::int64_t count() const { return 2 * most + 1; }
  bool on_image(std::int64_t pixel) const { return pixel >= 0 && pixel < size; }
  /// Pixels x of [begin, end) with x + shift on the image.
  std::pair<std::int64_t, std::int64_t> inside(std::int64_t begin, std::int64_t end, std::int64_t shift) const {
    begin = std::clamp(-shift, begin, end);
    return {begin, std::clamp(size - shift, begin, end)};
  }
};

inline Displacements down(const Shape& s) {
  return {s.h, s.dilation_patch_h, s.max_displacement};
}
inline Displacements across(const Shape& s) {
  return {s.w, s.dilation_patch_w, s.max_displacement};
}

/// Whether the output is the products of pixels, unsummed.
inline bool is_plain(const Shape& s) {
  return s.kernel_h == 1 && s.kernel_w == 1 && s.stride_h == 1 && s.stride_w == 1 && s.pad_h == 0 && s.pad_w == 0;
}

/// Windows along an axis: tap t of output o lies on pixel o * stride - pad + t * dilation.
struct Windows {
  std::int64_t size, outputs, taps, stride, pad, dilation;

  struct Range {
    std::int64_t first, end;
  };

  /// Taps of output o on the image.
  Range taps_of(std::int64_t o) const { return crossing(pad - o * stride, size, dilation, taps); }
  /// Outputs with a tap t on one of the pixels [begin, end).
  Range outputs_of(std::int64_t t, std::int64_t begin, std::int64_t end) const {
    return crossing(begin + pad - t * dilation, end - begin, stride, outputs);
  }
  /// Outputs that may have a tap on a pixel: those with one in [0, taps * dilation).
  Range outputs_on(std::int64_t pixel) const {
    const std::int64_t reach = (taps - 1) * dilation;
    return crossing(pixel + pad - reach, reach + 1, stride, outputs);
  }
  /// The tap of output o on a pixel, -1 for none.
  std::int64_t tap_on(std::int64_t o, std::int64_t pixel) const {
    const std::int64_t way = pixel + pad - o * stride;
    return way >= 0 && way % dilation == 0 && way / dilation < taps ? way / dilation : -1;
  }
  /// Taps of any output on one of the pixels [begin, end).
  Range taps_near(std::int64_t begin, std::int64_t end) const {
    const std::int64_t reach = (outputs - 1) * stride;
    return crossing(begin + pad - reach, reach + end - begin, dilation, taps);
  }

 private:
  /// Which of n multiples of `step`, from 0 on, are in [begin, begin + length).
  static Range crossing(std::int64_t begin, std::int64_t length, std::int64_t step, std::int64_t n) {
    const auto first_from = [=](std::int64_t at) { return at <= 0 ? 0 : std::min(ceil_div(at, step), n); };
    return {first_from(begin), first_from(begin + length)};
  }
};

inline Windows windows_down(const Shape& s) {
  return {s.h, s.out_h, s.kernel_h, s.stride_h, s.pad_h, s.dilation_h};
}
inline Windows windows_across(const Shape& s) {
  return {s.w, s.out_w, s.kernel_w, s.stride_w, s.pad_w, s.dilation_w};
}

/// Taps of a window on the image, at most.
inline std::int64_t most_taps(const Windows& w) {
  return std::min(w.taps, ceil_div(w.size, w.dilation));
}

/// An image in scratch: [h][c][pitch], pixel x at margin + x, zeros around it. A pitch of an odd number of cache lines
/// spreads the channels over the sets of a cache.
struct PackedRows {
  std::int64_t margin, pitch;

  template <class A>
  static PackedRows of(const Shape& s, std::int64_t margin, TypeTag<A>) {
    constexpr std::int64_t line = kCacheLineBytes / static_cast<std::int64_t>(sizeof(A));
    return {margin, (ceil_div(2 * margin + s.w + line, line) | 1) * line};
  }
  template <class A>
  A* row(A* image, const Shape& s, std::int64_t y) const {
    return image + y * s.c * pitch;
  }
};

/// f(std::integral_constant) for a number of [1, kMost].
template <int kMost, class F>
HWY_INLINE void with_constant(std::int64_t number, F&& f) {
  if constexpr (kMost == 1) {
    f(std::integral_constant<int, 1>());
  } else {
    if (number == kMost) return f(std::integral_constant<int, kMost>());
    with_constant<kMost - 1>(number, f);
  }
}

/// f(first, count as a constant) for blocks of about the same size, at most kMost, that cover [0, n).
template <int kMost, class F>
HWY_INLINE void for_even_blocks(std::int64_t n, F&& f) {
  const std::int64_t blocks = ceil_div(n, kMost);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t first = i * n / blocks;
    with_constant<kMost>((i + 1) * n / blocks - first, [&](auto count) HWY_ATTR { f(first, count); });
  }
}

inline constexpr std::int64_t kTile = 32;  ///< edge of a transposed tile of pixels and channels

/// to[c * pitch + x] = pixel x, channel c of row y of an image.
template <class T>
void pack_row(const Shape& s, bool nchw, const T* image, std::int64_t y, Acc<T>* to, std::int64_t pitch) {
  if (nchw) {
    for (std::int64_t c = 0; c < s.c; ++c) load_row(image + (c * s.h + y) * s.w, to + c * pitch, s.w);
    return;
  }
  HWY_ALIGN T tile[kTile * kTile];
  for (std::int64_t x = 0; x < s.w; x += kTile) {
    const std::int64_t pixels = std::min(kTile, s.w - x);
    for (std::int64_t c = 0; c < s.c; c += kTile) {
      const std::int64_t channels = std::min(kTile, s.c - c);
      transpose_panel(reinterpret_cast<const Moved<T>*>(image + (y * s.w + x) * s.c + c), s.c, pixels, channels,
                      reinterpret_cast<Moved<T>*>(tile), kTile);
      for (std::int64_t i = 0; i < channels; ++i) load_row(tile + i * kTile, to + (c + i) * pitch + x, pixels);
    }
  }
}

/// pack_row of all of an image's rows.
template <class T>
void pack_rows(const Context& context, const mluopsCall& call, const Shape& s, bool nchw, const T* image,
               const PackedRows& rows, Acc<T>* to) {
  Loop(context, call, s.h, cost::kMove * static_cast<double>(s.c * s.w))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t y = begin; y < end; ++y) {
          Acc<T>* const row = rows.row(to, s, y);
          for (std::int64_t c = 0; c < s.c; ++c) {
            std::fill_n(row + c * rows.pitch, rows.margin, Acc<T>(0));
            std::fill_n(row + c * rows.pitch + rows.margin + s.w, rows.pitch - rows.margin - s.w, Acc<T>(0));
          }
          pack_row(s, nchw, image, y, row + rows.margin, rows.pitch);
        }
      });
}

/// Pixels [x, x + count) of row y of an image, from sums [c][kLanes].
template <class T>
void unpack_pixels(const Shape& s, bool nchw, const Acc<T>* sums, std::int64_t y, std::int64_t x, std::int64_t count,
                   T* image) {
  constexpr std::int64_t lanes = kLanes<Acc<T>>;
  if (nchw) {
    for (std::int64_t c = 0; c < s.c; ++c) store_row(sums + c * lanes, image + (c * s.h + y) * s.w + x, count);
    return;
  }
  HWY_ALIGN T tile[kTile * lanes];
  for (std::int64_t c = 0; c < s.c; c += kTile) {
    const std::int64_t channels = std::min(kTile, s.c - c);
    store_row(sums + c * lanes, tile, channels * lanes);
    transpose_panel(reinterpret_cast<const Moved<T>*>(tile), lanes, channels, count,
                    reinterpret_cast<Moved<T>*>(image + (y * s.w + x) * s.c + c), s.c);
  }
}

}  // namespace mluops::cpu::correlation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
