// PSAMask: every output row is a window of an input row (collect) or of a transposed one (distribute) amid zeros.
// A pure move of 2-, 4- or 8-byte elements; each output byte is written once, nothing is added.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/psamask.cpp"
#include <hwy/foreach_target.h>

#include <utility>

#include "backends/cpu/entry.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/simd.h"
#include "common/shape.h"

#ifndef MLUOPS_CPU_PSAMASK_ONCE_
#define MLUOPS_CPU_PSAMASK_ONCE_
namespace mluops::cpu::psamask {

struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

/// Where the masks of a feature map overlap the map.
struct Window {
  std::int64_t h, w, h_mask, w_mask;
  std::int64_t half_h, half_w;
  bool covers_columns;  // every mask row reaches all columns of the map
  bool fills_columns;   // every mask row lies on the map with all its columns

  explicit Window(const mluopsPsamaskShape& s)
      : h(s.h),
        w(s.w),
        h_mask(s.h_mask),
        w_mask(s.w_mask),
        half_h((s.h_mask - 1) / 2),
        half_w((s.w_mask - 1) / 2),
        covers_columns(half_w >= w - 1 && w_mask - half_w >= w),
        fills_columns(w_mask == 1) {}

  /// Mask rows of the source pixel in row y that fall on the map; mask columns of the one in column x alike.
  Range rows(std::int64_t y) const { return {std::max<std::int64_t>(0, half_h - y), std::min(h_mask, h + half_h - y)}; }
  Range columns(std::int64_t x) const {
    return {std::max<std::int64_t>(0, half_w - x), std::min(w_mask, w + half_w - x)};
  }
  /// Target columns the mask of the source in column x reaches.
  Range targets(std::int64_t x) const {
    return {std::max<std::int64_t>(0, x - half_w), std::min(w, x - half_w + w_mask)};
  }
};

/// Working block of a task when it streams: rows are put together here first.
constexpr std::int64_t kCollectBlockBytes = std::int64_t{16} << 10;
constexpr std::int64_t kDistributeBlockBytes = std::int64_t{240} << 10;

/// Time to move a byte with one thread.
constexpr double kByteNs = 0.15;

}  // namespace mluops::cpu::psamask
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using psamask::Range, psamask::Window;

template <class E>
void copy(const E* from, E* to, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(E));
}

template <class E>
void zero(E* to, std::int64_t count) {
  std::memset(to, 0, static_cast<std::size_t>(count) * sizeof(E));
}

/// Hints that `count` elements from each of `rows` rows are needed soon.
template <class E>
HWY_INLINE void prefetch_rows(const E* from, std::int64_t stride, std::int64_t rows, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(E);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i < count + kLine - 1; i += kLine) hwy::Prefetch(from + r * stride + i);
  }
}

// ---- collect ---------------------------------------------------------------------------------

/// A window of `rows` rows of `count` elements; strides are those of the two sides. `next` is the window copied after
/// this one: its first rows are asked for in advance, not what lies below this window and nobody reads.
template <class E>
HWY_INLINE void copy_window(const E* from, const E* next, std::int64_t from_stride, E* to, std::int64_t to_stride,
                            std::int64_t rows, std::int64_t count) {
  constexpr std::int64_t kAhead = 12;
  for (std::int64_t r = 0; r < rows; ++r) {
    const E* const ahead = r + kAhead < rows ? from + kAhead * from_stride : next + (r + kAhead - rows) * from_stride;
    prefetch_rows(ahead, 0, 1, count);
    copy(from, to, count);
    from += from_stride, to += to_stride;
  }
}

/// Where in its row of masks the first cell of source pixel (h, w) is that falls on the map.
inline std::int64_t first_cell(const Window& win, std::int64_t h, std::int64_t w) {
  return win.rows(h).begin * win.w_mask + win.columns(w).begin;
}

/// y row of source pixel (h, w): [H*W] from its x row [h_mask*w_mask].
template <class E>
void collect_forward_row(const Window& win, std::int64_t h, std::int64_t w, const E* x, E* y) {
  const Range rows = win.rows(h), columns = win.columns(w);
  if (rows.size() < win.h || columns.size() < win.w) zero(y, win.h * win.w);
  const std::int64_t next = w + 1 < win.w ? first_cell(win, h, w + 1) : first_cell(win, h + 1, 0);
  copy_window(x + first_cell(win, h, w), x + win.h_mask * win.w_mask + next, win.w_mask,
              y + (rows.begin + h - win.half_h) * win.w + columns.begin + w - win.half_w, win.w, rows.size(),
              columns.size());
}

/// dx row of source pixel (h, w): [h_mask*w_mask] from its dy row [H*W].
template <class E>
void collect_backward_row(const Window& win, std::int64_t h, std::int64_t w, const E* dy, E* dx) {
  const Range rows = win.rows(h), columns = win.columns(w);
  if (rows.size() < win.h_mask || columns.size() < win.w_mask) zero(dx, win.h_mask * win.w_mask);
  const E* const from = dy + (rows.begin + h - win.half_h) * win.w + columns.begin + w - win.half_w;
  copy_window(from, from + win.h * win.w, win.w, dx + rows.begin * win.w_mask + columns.begin, win.w_mask, rows.size(),
              columns.size());
}

/// One direction of collect: out [pixels, out_row] from in [pixels, in_row], row(h, w, in row, out row) by row. Items
/// are blocks of neighbouring pixels, so a task owns what it writes.
template <class E, class Row>
mluOpStatus_t collect(Context& context, const mluopsCall& call, const mluopsPsamaskShape& s, std::int64_t in_row,
                      std::int64_t out_row, const E* in, E* out, Row row) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  const std::int64_t pixels = s.n * s.h * s.w;
  const bool past_caches = pixels * out_row * kSize > kStreamBytes;
  const std::int64_t block = std::clamp<std::int64_t>(psamask::kCollectBlockBytes / (out_row * kSize), 1, s.w);
  const std::int64_t slot_bytes = past_caches ? round_up(block * out_row * kSize, 64) : 0;
  const Loop loop(context, call, ceil_div(pixels, block),
                  psamask::kByteNs * static_cast<double>(block * out_row * kSize));
  std::byte* const scratch = context.scratch.reserve(slot_bytes * loop.slots());
  if (past_caches && scratch == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    E* const buffer = reinterpret_cast<E*>(scratch + slot * slot_bytes);
    for (std::int64_t first = begin * block; first < std::min(pixels, end * block); first += block) {
      const std::int64_t last = std::min(pixels, first + block);
      E* const rows = past_caches ? buffer : out + first * out_row;
      for (std::int64_t p = first; p < last; ++p) {
        row(p / s.w % s.h, p % s.w, in + p * in_row, rows + (p - first) * out_row);
      }
      if (past_caches) stream_copy(rows, out + first * out_row, (last - first) * out_row * kSize);
    }
    if (past_caches) stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

// ---- distribute ------------------------------------------------------------------------------

/// out[c * out_stride + r] = in[r * in_stride + c] for r in [0, rows), c in [0, columns).
template <class E>
void transpose_plain(const E* HWY_RESTRICT in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns,
                     E* HWY_RESTRICT out, std::int64_t out_stride) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) out[c * out_stride + r] = in[r * in_stride + c];
  }
}

#if HWY_TARGET != HWY_SCALAR
/// 4 vectors of 4-byte elements: the 4x4 matrix in each 128-bit block transposed.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_blocks(D d, V& v0, V& v1, V& v2, V& v3) {
  const hn::Repartition<std::uint64_t, D> pairs;
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, v0, v1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, v2, v3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v0, v1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v2, v3));
  v0 = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  v1 = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  v2 = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  v3 = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
}
#endif

/// Rows and columns transpose_tile takes at a time; 1: no such tile.
template <class E>
constexpr std::int64_t kTile = sizeof(E) == 4 && HWY_TARGET != HWY_SCALAR ? (HWY_TARGET <= HWY_AVX2 ? 8 : 4) : 1;

/// transpose_plain of kTile x kTile elements, in registers.
HWY_INLINE void transpose_tile(const std::uint32_t* HWY_RESTRICT in, std::int64_t in_stride,
                               std::uint32_t* HWY_RESTRICT out, std::int64_t out_stride) {
#if HWY_TARGET == HWY_SCALAR
  out[0] = in[0];
  (void)in_stride, (void)out_stride;
#else
  constexpr int kRows = kTile<std::uint32_t>;
  const hn::CappedTag<std::uint32_t, kRows> d;
  hn::Vec<decltype(d)> v[kRows];
  MLUOPS_UNROLL
  for (int r = 0; r < kRows; ++r) v[r] = hn::LoadU(d, in + r * in_stride);
  transpose_blocks(d, v[0], v[1], v[2], v[3]);
#if HWY_TARGET <= HWY_AVX2
  transpose_blocks(d, v[4], v[5], v[6], v[7]);
  MLUOPS_UNROLL
  for (int c = 0; c < 4; ++c) {
    hn::StoreU(hn::ConcatLowerLower(d, v[c + 4], v[c]), d, out + c * out_stride);
    hn::StoreU(hn::ConcatUpperUpper(d, v[c + 4], v[c]), d, out + (c + 4) * out_stride);
  }
#else
  MLUOPS_UNROLL
  for (int c = 0; c < 4; ++c) hn::StoreU(v[c], d, out + c * out_stride);
#endif
#endif
}

/// transpose_plain of any size.
template <class E>
HWY_INLINE void transpose(const E* HWY_RESTRICT in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns,
                          E* HWY_RESTRICT out, std::int64_t out_stride) {
  constexpr std::int64_t kStep = kTile<E>;
  std::int64_t r = 0, c = 0;
  if constexpr (kStep > 1) {
    for (; r + kStep <= rows; r += kStep) {
      for (c = 0; c + kStep <= columns; c += kStep) {
        transpose_tile(in + r * in_stride + c, in_stride, out + c * out_stride + r, out_stride);
      }
      transpose_plain(in + r * in_stride + c, in_stride, kStep, columns - c, out + c * out_stride + r, out_stride);
    }
  }
  transpose_plain(in + r * in_stride, in_stride, rows - r, columns, out + r, out_stride);
}

/// Source columns handled together: their targets are all the same but for a few at both ends.
constexpr std::int64_t kGroup = 8;

/// f(w0, w1, t0, t1): rectangles that cover all pairs of source column w and target column t within the mask once, in
/// groups of kGroup source columns.
template <class F>
HWY_INLINE void for_rectangles(const Window& win, F&& f) {
  for (std::int64_t w = 0; w < win.w; w += kGroup) {
    const std::int64_t end = std::min(win.w, w + kGroup);
    const std::int64_t low = win.targets(end - 1).begin, high = std::max(low, win.targets(w).end);
    for (std::int64_t k = w; k < end; ++k) {
      const Range t = win.targets(k);
      if (t.begin < std::min(low, t.end)) f(k, k + 1, t.begin, std::min(low, t.end));
      if (std::max(high, t.begin) < t.end) f(k, k + 1, std::max(high, t.begin), t.end);
    }
    if (low < high) f(w, end, low, high);
  }
}

/// y rows of the targets (ty, 0..W), columns of the sources (h0..h1, 0..W), at `y` with row stride `y_row`, from one
/// image of x.
template <class E>
void distribute_forward_block(const Window& win, std::int64_t ty, Range sources, const E* x, E* y, std::int64_t y_row) {
  const std::int64_t x_row = win.h_mask * win.w_mask;
  const std::int64_t skew = x_row - 1;  // one source on, the same target is one mask column back
  for (std::int64_t h = sources.begin; h < sources.end; ++h) {
    const std::int64_t i = ty - h + win.half_h;
    E* const to = y + (h - sources.begin) * win.w;
    if (i < 0 || i >= win.h_mask || !win.covers_columns) {
      for (std::int64_t t = 0; t < win.w; ++t) zero(to + t * y_row, win.w);
    }
    if (i < 0 || i >= win.h_mask) continue;
    const E* const from = x + h * win.w * x_row + i * win.w_mask + win.half_w;
    for_rectangles(win, [&](std::int64_t w0, std::int64_t w1, std::int64_t t0, std::int64_t t1) HWY_ATTR {
      prefetch_rows(from + (w0 + 2 * kGroup) * skew + t0, skew, w1 - w0, t1 - t0);
      transpose(from + w0 * skew + t0, skew, w1 - w0, t1 - t0, to + t0 * y_row + w0, y_row);
    });
  }
}

/// Mask rows i0..i1 of the dx rows of the sources (h, 0..W), at `dx` with row stride `dx_row`, from one image of dy.
template <class E>
void distribute_backward_block(const Window& win, std::int64_t h, Range mask_rows, const E* dy, E* dx,
                               std::int64_t dx_row) {
  const std::int64_t dy_row = win.h * win.w, skew = dx_row - 1;
  const Range inside = win.rows(h);
  for (std::int64_t i = mask_rows.begin; i < mask_rows.end; ++i) {
    E* const to = dx + (i - mask_rows.begin) * win.w_mask;
    const bool hit = i >= inside.begin && i < inside.end;
    if (!hit || !win.fills_columns) {
      for (std::int64_t w = 0; w < win.w; ++w) zero(to + w * dx_row, win.w_mask);
    }
    if (!hit) continue;
    const E* const from = dy + (i + h - win.half_h) * win.w * dy_row + h * win.w;
    prefetch_rows(from + win.w * dy_row, dy_row, win.w, win.w);
    for_rectangles(win, [&](std::int64_t w0, std::int64_t w1, std::int64_t t0, std::int64_t t1) HWY_ATTR {
      transpose(from + t0 * dy_row + w0, dy_row, t1 - t0, w1 - w0, to + w0 * skew + win.half_w + t0, skew);
    });
  }
}

/// Distribute in pieces: `outer` x `inner` items, item (a, b) fills [W rows of row_length(b)] elements; row w of it
/// belongs at target(a, b) + w * out_stride. fill(a, b, to, row stride) puts it together. No two items share output.
template <class E, class Piece, class Fill>
mluOpStatus_t distribute(Context& context, const mluopsCall& call, const mluopsPsamaskShape& s, std::int64_t out_row,
                         std::int64_t items, std::int64_t longest, Piece piece, Fill fill) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  const bool past_caches = s.n * s.h * s.w * out_row * kSize > kStreamBytes;
  const std::int64_t slot_bytes = past_caches ? round_up(s.w * longest * kSize, 64) : 0;
  const Loop loop(context, call, items, psamask::kByteNs * static_cast<double>(s.w * longest * kSize));
  std::byte* const scratch = context.scratch.reserve(slot_bytes * loop.slots());
  if (past_caches && scratch == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    E* const buffer = reinterpret_cast<E*>(scratch + slot * slot_bytes);
    for (std::int64_t item = begin; item < end; ++item) {
      const auto [target, length] = piece(item);
      fill(item, past_caches ? buffer : target, past_caches ? length : out_row);
      for (std::int64_t r = 0; past_caches && r < s.w; ++r) {
        stream_copy(buffer + r * length, target + r * out_row, length * kSize);
      }
    }
    if (past_caches) stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Source rows of one item: as many as the working block takes, whole cache lines of output if possible.
template <class E>
std::int64_t rows_per_item(std::int64_t row_elements, std::int64_t width, std::int64_t rows) {
  const std::int64_t bytes = row_elements * width * static_cast<std::int64_t>(sizeof(E));
  const std::int64_t fitting = std::clamp<std::int64_t>(psamask::kDistributeBlockBytes / bytes, 1, rows);
  return fitting > 4 && fitting < rows ? round_down(fitting, 4) : fitting;
}

template <class E>
mluOpStatus_t distribute_forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  const mluopsPsamaskShape& s = p.shape;
  const Window win(s);
  const std::int64_t map = s.h * s.w, x_image = map * s.h_mask * s.w_mask;
  const std::int64_t band = rows_per_item<E>(s.w, s.w, s.h), bands = ceil_div(s.h, band);
  const auto sources = [&](std::int64_t item) {
    const std::int64_t first = item / s.h % bands * band;
    return Range{first, std::min(s.h, first + band)};
  };
  return distribute<E>(
      context, call, s, map, s.n * bands * s.h, band * s.w,
      [&](std::int64_t item) {
        const std::int64_t image = item / (bands * s.h), ty = item % s.h;
        E* const target = static_cast<E*>(p.y) + (image * map + ty * s.w) * map + sources(item).begin * s.w;
        return std::pair(target, sources(item).size() * s.w);
      },
      [&](std::int64_t item, E* to, std::int64_t stride) HWY_ATTR {
        const E* const x = static_cast<const E*>(p.x) + item / (bands * s.h) * x_image;
        distribute_forward_block(win, item % s.h, sources(item), x, to, stride);
      });
}

template <class E>
mluOpStatus_t distribute_backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  const mluopsPsamaskShape& s = p.shape;
  const Window win(s);
  const std::int64_t map = s.h * s.w, dx_row = s.h_mask * s.w_mask;
  const std::int64_t band = rows_per_item<E>(s.w_mask, s.w, s.h_mask), bands = ceil_div(s.h_mask, band);
  const auto mask_rows = [&](std::int64_t item) {
    const std::int64_t first = item % bands * band;
    return Range{first, std::min(s.h_mask, first + band)};
  };
  return distribute<E>(
      context, call, s, dx_row, s.n * s.h * bands, band * s.w_mask,
      [&](std::int64_t item) {
        E* const target = static_cast<E*>(p.dx) + item / bands * s.w * dx_row + mask_rows(item).begin * s.w_mask;
        return std::pair(target, mask_rows(item).size() * s.w_mask);
      },
      [&](std::int64_t item, E* to, std::int64_t stride) HWY_ATTR {
        const E* const dy = static_cast<const E*>(p.dy) + item / (bands * s.h) * map * map;
        distribute_backward_block(win, item / bands % s.h, mask_rows(item), dy, to, stride);
      });
}

// ---- calls -----------------------------------------------------------------------------------

template <class E>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  if (p.shape.psa_type == 1) return distribute_forward<E>(context, call, p);
  const Window win(p.shape);
  return collect(
      context, call, p.shape, win.h_mask * win.w_mask, win.h * win.w, static_cast<const E*>(p.x), static_cast<E*>(p.y),
      [&](std::int64_t h, std::int64_t w, const E* x, E* y) HWY_ATTR { collect_forward_row(win, h, w, x, y); });
}

template <class E>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  if (p.shape.psa_type == 1) return distribute_backward<E>(context, call, p);
  const Window win(p.shape);
  return collect(context, call, p.shape, win.h * win.w, win.h_mask * win.w_mask, static_cast<const E*>(p.dy),
                 static_cast<E*>(p.dx), [&](std::int64_t h, std::int64_t w, const E* dy, E* dx) HWY_ATTR {
                   collect_backward_row(win, h, w, dy, dx);
                 });
}

/// f(TypeTag<unsigned integer as wide as the dtype>): elements are only moved.
template <class F>
mluOpStatus_t with_width(const mluopsCall& call, mluOpDataType_t dtype, F&& f) {
  return with_element(call, dtype, [&](auto tag) HWY_ATTR {
    constexpr std::size_t kSize = sizeof(typename decltype(tag)::type);
    using Wide = std::conditional_t<kSize == 4, std::uint32_t, std::uint64_t>;
    return f(TypeTag<std::conditional_t<kSize == 2, std::uint16_t, Wide>>{});
  });
}

MLUOPS_CPU_KERNEL(psamask_forward, mluopsPsamaskForwardProblem, forward, with_width)
MLUOPS_CPU_KERNEL(psamask_backward, mluopsPsamaskBackwardProblem, backward, with_width)

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(psamask_forward, mluopsPsamaskForwardProblem)
MLUOPS_CPU_ENTRY(psamask_backward, mluopsPsamaskBackwardProblem)

}  // namespace mluops::cpu
#endif
