// PSAMask distribute: values move between the masks of all pixels and the rows of their targets, that is transposed.
#if defined(MLUOPS_CPU_PSAMASK_DISTRIBUTE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_DISTRIBUTE_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_DISTRIBUTE_INL_H_
#endif

#include "backends/cpu/kernels/psamask/distribute_lines-inl.h"
#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/kernels/psamask/moves-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/transpose-inl.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// out[c * out_stride + r] = in[r * in_stride + c] for r in [0, rows), c in [0, columns).
template <class E>
void transpose_plain(const E* HWY_RESTRICT in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns,
                     E* HWY_RESTRICT out, std::int64_t out_stride) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) out[c * out_stride + r] = in[r * in_stride + c];
  }
}

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
  transpose_in_blocks(d, v);
#if HWY_TARGET <= HWY_AVX2
  transpose_in_blocks(d, v + 4);
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
  if (kStep == 1 || rows < kStep || columns < kStep) {
    transpose_plain(in, in_stride, rows, columns, out, out_stride);
    return;
  }
  if constexpr (kStep > 1) {
    // The last tile of either direction overlaps the one before.
    for (std::int64_t i = 0; i < rows; i += kStep) {
      const std::int64_t r = std::min(i, rows - kStep);
      for (std::int64_t j = 0; j < columns; j += kStep) {
        const std::int64_t c = std::min(j, columns - kStep);
        transpose_tile(in + r * in_stride + c, in_stride, out + c * out_stride + r, out_stride);
      }
    }
  }
}

/// Source columns handled together: their targets are all the same but for a few at both ends.
constexpr std::int64_t kGroup = 8;

/// f(w0, w1, t0, t1): rectangles that cover all pairs of source column w and target column t within the mask, in
/// groups of kGroup source columns; the last group overlaps the one before.
template <class F>
HWY_INLINE void for_rectangles(const Window& win, F&& f) {
  for (std::int64_t i = 0; i < win.w; i += kGroup) {
    const std::int64_t w = std::max<std::int64_t>(0, std::min(i, win.w - kGroup)), end = std::min(win.w, w + kGroup);
    const std::int64_t low = win.targets(end - 1).begin, high = std::max(low, win.targets(w).end);
    for (std::int64_t k = w; k < end; ++k) {
      const Range t = win.targets(k);
      if (t.begin < std::min(low, t.end)) f(k, k + 1, t.begin, std::min(low, t.end));
      if (std::max(high, t.begin) < t.end) f(k, k + 1, std::max(high, t.begin), t.end);
    }
    if (low < high) f(w, end, low, high);
  }
}

/// y rows of the targets (ty, 0..W), ty in `targets`, columns of the sources (h0..h1, 0..W), at `y` with row stride
/// `y_row`, from one image of x.
template <class E>
void distribute_forward_block(const Window& win, Range targets, Range sources, const E* x, E* y, std::int64_t y_row) {
  const std::int64_t x_row = win.h_mask * win.w_mask;
  const std::int64_t skew = x_row - 1;  // one source on, the same target is one mask column back
  for (std::int64_t h = sources.begin; h < sources.end; ++h) {
    const Range hit{std::max(targets.begin, h - win.half_h), std::min(targets.end, h - win.half_h + win.h_mask)};
    E* const to = y + (h - sources.begin) * win.w;
    for (std::int64_t ty = targets.begin; ty < targets.end; ++ty) {
      if (ty >= hit.begin && ty < hit.end && win.covers_columns) continue;
      for (std::int64_t t = 0; t < win.w; ++t) zero(to + ((ty - targets.begin) * win.w + t) * y_row, win.w);
    }
    if (hit.begin >= hit.end) continue;
    const auto row_of = [&](std::int64_t source, std::int64_t target) {
      return x + source * win.w * x_row + (target - source + win.half_h) * win.w_mask + win.half_w;
    };
    const E* const from = row_of(h, hit.begin);
    const E* const next = h + 1 < sources.end ? row_of(h + 1, hit.begin) : row_of(sources.begin, targets.end);
    E* const hit_to = to + (hit.begin - targets.begin) * win.w * y_row;
    for_rectangles(win, [&](std::int64_t w0, std::int64_t w1, std::int64_t t0, std::int64_t t1) HWY_ATTR {
      for (std::int64_t i = 0; i < hit.size(); ++i) {
        const E* const row = from + i * win.w_mask + t0;
        for (std::int64_t w = w0 + kGroup + i; w < w0 + 2 * kGroup && w1 - w0 > 1; w += hit.size()) {
          const E* const ahead = (w < win.w ? from + w * skew : next + (w - win.w) * skew) + t0;
          for (std::int64_t r = 0; r < hit.size(); ++r) prefetch_row(ahead + r * win.w_mask, t1 - t0);
        }
        transpose(row + w0 * skew, skew, w1 - w0, t1 - t0, hit_to + (i * win.w + t0) * y_row + w0, y_row);
      }
    });
  }
}

/// Mask rows i0..i1 of the dx rows of the sources (h, 0..W), all of which fall on the map, at `dx` with row stride
/// `dx_row`, from one image of dy.
template <class E>
void distribute_backward_block(const Window& win, std::int64_t h, Range mask_rows, const E* dy, E* dx,
                               std::int64_t dx_row) {
  const std::int64_t dy_row = win.h * win.w, skew = dx_row - 1;
  for (std::int64_t i = mask_rows.begin; i < mask_rows.end; ++i) {
    E* const to = dx + (i - mask_rows.begin) * win.w_mask;
    for (std::int64_t w = 0; w < win.w && !win.fills_columns; ++w) zero(to + w * dx_row, win.w_mask);
    const E* const from = dy + (i + h - win.half_h) * win.w * dy_row + h * win.w;
    for_rectangles(win, [&](std::int64_t w0, std::int64_t w1, std::int64_t t0, std::int64_t t1) HWY_ATTR {
      const std::int64_t ahead = std::min(win.w, w0 + kGroup);
      for (std::int64_t t = w0; t < ahead && w1 - w0 > 1; ++t) prefetch_row(from + (win.w + t) * dy_row, win.w);
      transpose(from + t0 * dy_row + w0, dy_row, t1 - t0, w1 - w0, to + w0 * skew + win.half_w + t0, skew);
    });
  }
}

/// Output of one item of distribute: `rows` rows of `length` elements, with zeros before and behind each.
template <class E>
struct Piece {
  E* target;
  std::int64_t rows, before, length, behind;

  void zero_around(E* row, std::int64_t stride) const {
    if (before + behind == 0) return;
    for (std::int64_t r = 0; r < rows; ++r, row += stride) {
      zero(row, before);
      zero(row + before + length, behind);
    }
  }
};

/// One piece by way of the buffer. Zeros of long rows go straight out; those of short ones would leave cache lines in
/// parts.
template <class E, class Fill>
void fill_stage(const Piece<E>& piece, std::int64_t out_row, E* buffer, const Fill& fill) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  const bool whole = out_row * kSize <= kWholeRowBytes;
  const std::int64_t before = whole ? piece.before : 0, tail = whole ? piece.behind : 0;
  const std::int64_t row = before + piece.length + tail;
  fill(buffer + before, row);
  if (whole) piece.zero_around(buffer, row);
  if (row == out_row) {
    copy_non_temporal(buffer, piece.target, piece.rows * row * kSize);
    return;
  }
  for (std::int64_t r = 0; r < piece.rows; ++r) {
    E* const to = piece.target + r * out_row;
    zero_non_temporal(to, (piece.before - before) * kSize);
    copy_non_temporal(buffer + r * row, to + piece.before - before, row * kSize);
    zero_non_temporal(to + piece.before + piece.length + tail, (piece.behind - tail) * kSize);
  }
}

/// Distribute in pieces, row r of one at target + r * out_row; kStaged: by way of a buffer and non-temporally.
/// fill(item, to, row stride) puts it together; no two items share output. `most` is the size of the largest piece.
template <class E, bool kStaged, class MakePiece, class Fill>
mluOpStatus_t distribute(Context& context, const mluopsCall& call, std::int64_t out_row, std::int64_t items,
                         std::int64_t most, MakePiece piece_of, Fill fill) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  const std::int64_t slot_bytes = kStaged ? round_up(most * kSize, 64) : 0;
  const Loop loop(context, call, items, cost::kMoveByte * static_cast<double>(most * kSize));
  std::byte* const block = context.arena.reserve_array<std::byte>(slot_bytes, loop.slots());
  if (kStaged && block == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    E* const buffer = reinterpret_cast<E*>(block + slot * slot_bytes);
    for (std::int64_t item = begin; item < end; ++item) {
      const Piece<E> piece = piece_of(item);
      if constexpr (kStaged) {
        fill_stage(piece, out_row, buffer, [&](E* to, std::int64_t stride) HWY_ATTR { fill(item, to, stride); });
      } else {
        fill(item, piece.target + piece.before, out_row);
        piece.zero_around(piece.target, out_row);
      }
    }
    if constexpr (kStaged) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Source rows of one item: as many as the working block takes, whole cache lines of output if possible.
template <class E>
std::int64_t rows_per_item(std::int64_t row_elements, std::int64_t width, std::int64_t rows) {
  const std::int64_t bytes = row_elements * width * static_cast<std::int64_t>(sizeof(E));
  const std::int64_t fitting = std::clamp<std::int64_t>(distribute_block_bytes() / bytes, 1, rows);
  return fitting > 4 && fitting < rows ? round_down(fitting, 4) : fitting;
}

/// Rows of targets that forward fills together: so few that the working block takes four rows of sources.
template <class E>
std::int64_t target_rows_together(const mluopsPsamaskShape& s) {
  const std::int64_t four_rows = 4 * s.w * s.w * static_cast<std::int64_t>(sizeof(E));
  const std::int64_t most = std::min(s.h, kTargetRowsTogether);
  return std::clamp<std::int64_t>(distribute_block_bytes() / four_rows, 1, most);
}

/// Output that large is written non-temporally.
template <class E>
bool leaves_caches(const mluopsPsamaskShape& s, std::int64_t out_row) {
  return s.n * s.h * s.w * out_row * static_cast<std::int64_t>(sizeof(E)) > non_temporal_from::psamask();
}

/// Whether forward by cache lines of output is possible: every source reaches every target.
template <class E>
bool by_lines(const mluopsPsamaskShape& s) {
  const Window win(s);
  return HWY_TARGET != HWY_SCALAR && sizeof(E) == 4 && win.covers_columns && win.covers_rows && s.w >= kTransposed;
}

#if HWY_TARGET != HWY_SCALAR
/// `rows` rows of targets at a time, a cache line of 16 sources each.
inline Loop loop_of_lines(const Context& context, const mluopsCall& call, const mluopsPsamaskShape& s,
                          std::int64_t rows) {
  return Loop(context, call, s.n * ceil_div(s.h, rows) * ceil_div(s.h * s.w, kLineSources),
              cost::kMoveByte * static_cast<double>(rows * s.w * 64));
}

/// Rows of output are whole cache lines.
inline mluOpStatus_t distribute_aligned(Context& context, const mluopsCall& call,
                                        const mluopsPsamaskForwardProblem& p) {
  distribute_by_lines<AlignedLines>(loop_of_lines(context, call, p.shape, p.shape.h), p, p.shape.h, nullptr, 0);
  return MLUOP_STATUS_SUCCESS;
}
#endif

#if HWY_TARGET <= HWY_AVX3
/// Rows of output begin anywhere.
inline mluOpStatus_t distribute_carried(Context& context, const mluopsCall& call,
                                        const mluopsPsamaskForwardProblem& p) {
  const mluopsPsamaskShape& s = p.shape;
  const std::int64_t row_lines = s.w * 64;
  const std::int64_t rows = std::clamp<std::int64_t>(distribute_block_bytes() / row_lines, 1, s.h);
  const Loop loop = loop_of_lines(context, call, s, rows);
  std::byte* const block = context.arena.reserve_array<std::byte>(rows, row_lines, loop.slots());
  if (block == nullptr) return no_memory(call);
  distribute_by_lines<CarriedLines>(loop, p, rows, block, rows * row_lines);
  return MLUOP_STATUS_SUCCESS;
}
#endif

template <class E, bool kStaged>
mluOpStatus_t distribute_forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  const mluopsPsamaskShape& s = p.shape;
  const Window win(s);
  const std::int64_t map = s.h * s.w, x_image = map * s.h_mask * s.w_mask;
  const std::int64_t together = target_rows_together<E>(s), groups = ceil_div(s.h, together);
  const std::int64_t band = rows_per_item<E>(s.w, s.w * together, s.h), bands = ceil_div(s.h, band);
  const auto targets = [&](std::int64_t item) {
    const std::int64_t first = item % groups * together;
    return Range{first, std::min(s.h, first + together)};
  };
  const auto sources = [&](std::int64_t item) {
    const std::int64_t first = item / groups % bands * band;
    return Range{first, std::min(s.h, first + band)};
  };
  return distribute<E, kStaged>(
      context, call, map, s.n * bands * groups, together * s.w * band * s.w,
      [&](std::int64_t item) {
        const std::int64_t image = item / (bands * groups);
        const Range ty = targets(item), h = sources(item);
        return Piece<E>{static_cast<E*>(p.y) + (image * map + ty.begin * s.w) * map + h.begin * s.w, ty.size() * s.w, 0,
                        h.size() * s.w, 0};
      },
      [&](std::int64_t item, E* to, std::int64_t stride) HWY_ATTR {
        const E* const x = static_cast<const E*>(p.x) + item / (bands * groups) * x_image;
        distribute_forward_block(win, targets(item), sources(item), x, to, stride);
      });
}

template <class E, bool kStaged>
mluOpStatus_t distribute_backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  const mluopsPsamaskShape& s = p.shape;
  const Window win(s);
  const std::int64_t map = s.h * s.w, dx_row = s.h_mask * s.w_mask;
  const std::int64_t band = rows_per_item<E>(s.w_mask, s.w, s.h_mask), bands = ceil_div(s.h_mask, band);
  const auto mask_rows = [&](std::int64_t item) {
    const std::int64_t first = item % bands * band;
    return Range{first, std::min(s.h_mask, first + band)};
  };
  const auto on_map = [&](std::int64_t item) {
    const Range rows = mask_rows(item), inside = win.rows(item / bands % s.h);
    const std::int64_t begin = std::clamp(inside.begin, rows.begin, rows.end);
    return Range{begin, std::clamp(inside.end, begin, rows.end)};
  };
  return distribute<E, kStaged>(
      context, call, dx_row, s.n * s.h * bands, s.w * band * s.w_mask,
      [&](std::int64_t item) {
        const Range rows = mask_rows(item), hit = on_map(item);
        E* const target = static_cast<E*>(p.dx) + item / bands * s.w * dx_row + rows.begin * s.w_mask;
        return Piece<E>{target, s.w, (hit.begin - rows.begin) * s.w_mask, hit.size() * s.w_mask,
                        (rows.end - hit.end) * s.w_mask};
      },
      [&](std::int64_t item, E* to, std::int64_t stride) HWY_ATTR {
        const E* const dy = static_cast<const E*>(p.dy) + item / (bands * s.h) * map * map;
        distribute_backward_block(win, item / bands % s.h, on_map(item), dy, to, stride);
      });
}

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
