// Panels of a matrix transposed, tile by tile in registers. Include after foreach_target.h, like simd-inl.h.
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

template <class E>
HWY_INLINE void transpose_tile(const E* from, std::int64_t, E* to, std::int64_t) {
  *to = *from;
}
#else
/// Edge of a register tile: 128-bit blocks for 16-bit elements, whole vectors for the others.
template <class E>
constexpr std::int64_t kPanelTile = sizeof(E) == 2 ? 8 : kLanes<E>;

template <class E>
HWY_INLINE void transpose_tile(const E* HWY_RESTRICT from, std::int64_t from_stride, E* HWY_RESTRICT to,
                               std::int64_t to_stride) {
  using Tag = std::conditional_t<sizeof(E) == 2, hn::CappedTag<E, 8>, hn::ScalableTag<E>>;
  const Tag d;
  hn::Vec<Tag> v[kPanelTile<E>];
  MLUOPS_UNROLL
  for (std::int64_t i = 0; i < kPanelTile<E>; ++i) v[i] = hn::LoadU(d, from + i * from_stride);
  if constexpr (sizeof(E) == 2) {
    transpose_16bit(d, v);
  } else {
    transpose_square<E>(v);
  }
  MLUOPS_UNROLL
  for (std::int64_t i = 0; i < kPanelTile<E>; ++i) hn::StoreU(v[i], d, to + i * to_stride);
}
#endif

/// rows x columns of `from` transposed to `to`, whose rows lie to_stride apart. The last tiles of a row or column begin
/// early where they would reach over its end: some elements are written twice.
template <class E>
void transpose_panel(const E* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns, E* to,
                     std::int64_t to_stride) {
  constexpr std::int64_t kTile = kPanelTile<E>;
  if (rows < kTile || columns < kTile) return transpose_elements(from, from_stride, rows, columns, to, to_stride);
  for (std::int64_t next_row = 0; next_row < rows; next_row += kTile) {
    const std::int64_t r = std::min(next_row, rows - kTile);
    for (std::int64_t next = 0; next < columns; next += kTile) {
      const std::int64_t c = std::min(next, columns - kTile);
      transpose_tile(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
    }
  }
}

#if HWY_TARGET == HWY_SCALAR
template <class E>
HWY_INLINE std::int64_t transpose_whole_lines(const E*, std::int64_t, std::int64_t, std::int64_t, E*, std::int64_t) {
  return 0;
}
#else
/// Whether a row of a tile is a cache line.
template <class E>
constexpr bool kTileIsLines = kPanelTile<E>* static_cast<std::int64_t>(sizeof(E)) == 64;

/// A tile whose rows are whole cache lines, stored past the caches.
template <class E>
HWY_INLINE void transpose_tile_non_temporal(const E* HWY_RESTRICT from, std::int64_t from_stride, E* HWY_RESTRICT to,
                                            std::int64_t to_stride) {
  const hn::ScalableTag<E> d;
  hn::Vec<decltype(d)> v[kPanelTile<E>];
  MLUOPS_UNROLL
  for (std::int64_t i = 0; i < kPanelTile<E>; ++i) v[i] = hn::LoadU(d, from + i * from_stride);
  transpose_square<E>(v);
  MLUOPS_UNROLL
  for (std::int64_t i = 0; i < kPanelTile<E>; ++i) hn::Stream(v[i], d, to + i * to_stride);
}

/// The part of a panel that is whole tiles of whole cache lines on both ends; returns how many of its rows were done.
template <class E>
HWY_INLINE std::int64_t transpose_whole_lines(const E* from, std::int64_t from_stride, std::int64_t rows,
                                              std::int64_t columns, E* to, std::int64_t to_stride) {
  if constexpr (sizeof(E) >= 4 && kTileIsLines<E>) {
    constexpr std::int64_t kTile = kPanelTile<E>;
    if (!whole_lines(to, to_stride * static_cast<std::int64_t>(sizeof(E))) || columns % kTile != 0) return 0;
    const std::int64_t whole = round_down(rows, kTile);
    for (std::int64_t c = 0; c < columns; c += kTile) {
      for (std::int64_t r = 0; r < whole; r += kTile) {
        transpose_tile_non_temporal(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
      }
    }
    return whole;
  } else {
    return 0;
  }
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
