// Panels of a matrix transposed, tile by tile in registers. Include after foreach_target.h, like simd-inl.h.
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"
#include "common/shape.h"

#if defined(MLUOPS_CPU_SIMD_PANEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SIMD_PANEL_INL_H_
#else
#define MLUOPS_CPU_SIMD_PANEL_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// The type whose vectors carry elements of T when they are only moved.
template <class T>
using Moved = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, float, double>>;

/// Element by element: narrow panels, and levels without a transpose in registers.
template <class E>
void transpose_elements(const E* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns, E* to,
                        std::int64_t to_stride) {
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) to[c * to_stride + r] = from[r * from_stride + c];
  }
}

#if HWY_TARGET == HWY_SCALAR
template <class E>
constexpr std::int64_t kPanelTile = 1;
#else
/// Edge of a register tile that is worth it: a 128-bit block of 16-bit elements, a vector of the others.
template <class E>
constexpr std::int64_t kPanelTile = sizeof(E) == 2 ? 8 : kLanes<E>;

/// The 128-bit block at p, the one `apart` elements behind it, and so on.
template <class D, class E>
HWY_INLINE hn::Vec<D> load_blocks(D d, const E* p, std::int64_t apart) {
  if constexpr (hn::MaxLanes(d) * sizeof(E) == 16) {
    return hn::LoadU(d, p);
#if HWY_TARGET <= HWY_AVX3
  } else if constexpr (hn::MaxLanes(d) * sizeof(E) == 64) {
    const auto block = [&](std::int64_t i)
                           HWY_ATTR { return _mm_loadu_ps(reinterpret_cast<const float*>(p + i * apart)); };
    auto blocks = _mm512_castps128_ps512(block(0));
    blocks = _mm512_mask_broadcast_f32x4(blocks, 0x00f0, block(1));
    blocks = _mm512_mask_broadcast_f32x4(blocks, 0x0f00, block(2));
    blocks = _mm512_mask_broadcast_f32x4(blocks, 0xf000, block(3));
    return hn::BitCast(d, hn::Vec<hn::Repartition<float, D>>{blocks});
#endif
  } else {
    const hn::Half<D> half;
    constexpr auto kBlocks = static_cast<std::int64_t>(hn::MaxLanes(half) * sizeof(E) / 16);
    return hn::Combine(d, load_blocks(half, p + kBlocks * apart, apart), load_blocks(half, p, apart));
  }
}

/// Transposes as many rows as D has lanes, and as many columns as a block of 128 bits has elements. Such blocks are
/// loaded into their places of a vector, which leaves half the shuffles. Non-temporal stores need whole cache lines.
template <bool kNonTemporal, class D, class E>
HWY_INLINE void transpose_slice(D d, const E* HWY_RESTRICT from, std::int64_t from_stride, E* HWY_RESTRICT to,
                                std::int64_t to_stride) {
  constexpr std::int64_t kBlock = 16 / static_cast<std::int64_t>(sizeof(E));
  hn::Vec<D> v[kBlock];
  MLUOPS_UNROLL
  for (std::int64_t i = 0; i < kBlock; ++i) v[i] = load_blocks(d, from + i * from_stride, kBlock * from_stride);
  transpose_in_blocks(d, v);
  MLUOPS_UNROLL
  for (std::int64_t i = 0; i < kBlock; ++i) {
    kNonTemporal ? hn::Stream(v[i], d, to + i * to_stride) : hn::StoreU(v[i], d, to + i * to_stride);
  }
}

/// A square of as many rows and columns as D has lanes.
template <bool kNonTemporal, class D, class E>
HWY_INLINE void transpose_tile(D d, const E* HWY_RESTRICT from, std::int64_t from_stride, E* HWY_RESTRICT to,
                               std::int64_t to_stride) {
  constexpr auto kEdge = static_cast<std::int64_t>(hn::MaxLanes(d)), kBlock = 16 / static_cast<std::int64_t>(sizeof(E));
  MLUOPS_UNROLL
  for (std::int64_t g = 0; g < kEdge; g += kBlock) {
    transpose_slice<kNonTemporal>(d, from + g, from_stride, to + g * to_stride, to_stride);
  }
}

/// Row by row of the result, whole tiles, then slices. The last ones of a row or column begin early where they would
/// reach over its end: some elements are written twice.
template <class D, class E>
void transpose_tiles(D d, const E* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns, E* to,
                     std::int64_t to_stride) {
  constexpr auto kEdge = static_cast<std::int64_t>(hn::MaxLanes(d)), kBlock = 16 / static_cast<std::int64_t>(sizeof(E));
  for (std::int64_t c = 0; c < columns; c += kEdge) {
    for (std::int64_t next_row = 0; next_row < rows; next_row += kEdge) {
      const std::int64_t r = std::min(next_row, rows - kEdge);
      const E* const tile = from + r * from_stride;
      if (c + kEdge <= columns) {
        transpose_tile<false>(d, tile + c, from_stride, to + c * to_stride + r, to_stride);
        continue;
      }
      for (std::int64_t next = c; next < columns; next += kBlock) {
        const std::int64_t first = std::min(next, columns - kBlock);
        transpose_slice<false>(d, tile + first, from_stride, to + first * to_stride + r, to_stride);
      }
    }
  }
}
#endif

/// rows x columns of `from` transposed to `to`, whose rows lie to_stride apart.
template <class E>
void transpose_panel(const E* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns, E* to,
                     std::int64_t to_stride) {
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<E> d;
  const hn::CappedTag<E, 16 / sizeof(E)> block;
  constexpr auto kBlock = static_cast<std::int64_t>(hn::MaxLanes(block));
  if (rows >= kLanes<E> && columns >= kBlock) {
    // A row or two behind the last tiles, as of 7 x 7 bins, cost less than tiles that begin early.
    const std::int64_t tail = rows % kLanes<E> <= 2 ? rows % kLanes<E> : 0;
    transpose_tiles(d, from, from_stride, rows - tail, columns, to, to_stride);
    if (tail == 0) return;
    return transpose_elements(from + (rows - tail) * from_stride, from_stride, tail, columns, to + rows - tail,
                              to_stride);
  }
  if (std::min(rows, columns) >= kBlock) {
    return transpose_tiles(block, from, from_stride, rows, columns, to, to_stride);
  }
#endif
  transpose_elements(from, from_stride, rows, columns, to, to_stride);
}

#if HWY_TARGET == HWY_SCALAR
template <class E>
HWY_INLINE std::int64_t transpose_whole_lines(const E*, std::int64_t, std::int64_t, std::int64_t, E*, std::int64_t) {
  return 0;
}
#else
/// The part of a panel that is whole tiles of whole cache lines on both ends, with non-temporal stores; returns how
/// many of its rows were done.
template <class E>
HWY_INLINE std::int64_t transpose_whole_lines(const E* from, std::int64_t from_stride, std::int64_t rows,
                                              std::int64_t columns, E* to, std::int64_t to_stride) {
  if constexpr (kLanes<E> * static_cast<std::int64_t>(sizeof(E)) == kCacheLineBytes) {
    constexpr std::int64_t kTile = kLanes<E>;
    if (!whole_lines(to, to_stride * static_cast<std::int64_t>(sizeof(E))) || columns % kTile != 0) return 0;
    const std::int64_t whole = round_down(rows, kTile);
    for (std::int64_t c = 0; c < columns; c += kTile) {
      for (std::int64_t r = 0; r < whole; r += kTile) {
        transpose_tile<true>(hn::ScalableTag<E>(), from + r * from_stride + c, from_stride, to + c * to_stride + r,
                             to_stride);
      }
    }
    return whole;
  }
  return 0;
}
#endif

/// A panel whose result leaves the caches: `columns` rows of it, each `rows` long, go through a stage in the first
/// cache, from where whole cache lines are stored past the caches.
template <class E>
void transpose_panel_non_temporal(const E* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns,
                                  E* to, std::int64_t to_stride) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  constexpr std::int64_t kLine = 64 / kSize, kRun = 1280 / kSize;  // 16 rows of it and their sources fit the cache
  HWY_ALIGN E stage[kLine * kRun];
  const std::int64_t done = transpose_whole_lines(from, from_stride, rows, columns, to, to_stride);
  from += done * from_stride, to += done, rows -= done;
  if (rows == 0) return;
  for (std::int64_t c = 0; c < columns; c += kLine) {
    const std::int64_t width = std::min(kLine, columns - c);
    std::int64_t run = kRun - before_line(to + c * to_stride, 64) / kSize;
    for (std::int64_t r = 0; r < rows; r += run, run = kRun) {
      run = std::min(run, rows - r);
      transpose_panel(from + r * from_stride + c, from_stride, run, width, stage, kRun);
      for (std::int64_t i = 0; i < width; ++i) {
        copy_non_temporal(stage + i * kRun, to + (c + i) * to_stride + r, run * kSize);
      }
    }
  }
}

/// transpose_panel past the caches or into them.
template <class E>
void transpose_panel(bool non_temporal, const E* from, std::int64_t from_stride, std::int64_t rows,
                     std::int64_t columns, E* to, std::int64_t to_stride) {
  non_temporal ? transpose_panel_non_temporal(from, from_stride, rows, columns, to, to_stride)
               : transpose_panel(from, from_stride, rows, columns, to, to_stride);
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
