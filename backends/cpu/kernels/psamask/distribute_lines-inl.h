// PSAMask distribute forward where masks cover the map: windows of 16 sources transposed in registers, whole cache
// lines out.
#if defined(MLUOPS_CPU_PSAMASK_DISTRIBUTE_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_DISTRIBUTE_LINES_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_DISTRIBUTE_LINES_INL_H_
#endif

#include <array>

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/kernels/psamask/moves-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/transpose-inl.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Sources of a cache line, and targets that are transposed at a time.
constexpr std::int64_t kLineSources = 16, kTransposed = 4;

#if HWY_TARGET != HWY_SCALAR
/// The values of 16 sources for one target.
struct SourceLine {
  using D = hn::ScalableTag<std::uint32_t>;
  static constexpr int kVectors = static_cast<int>(kLineSources) / kLanes<std::uint32_t>;
  hn::Vec<D> v[kVectors];

  template <class F>
  static HWY_INLINE void for_vectors(F&& f) {
    MLUOPS_UNROLL
    for (int i = 0; i < kVectors; ++i) f(i, i * kLanes<std::uint32_t>);
  }
};

/// Four elements of every fourth row.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::uint32_t* const* rows, std::int64_t at) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return hn::LoadU(d, rows[0] + at);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, rows + hn::MaxLanes(half), at), load_blocks(half, rows, at));
  }
}

/// lines[t] source s = rows[s][at + t], t < kTransposed. Loads put the blocks where they belong, which leaves two
/// shuffles a line.
HWY_INLINE void transpose_lines(const std::uint32_t* const* rows, std::int64_t at, SourceLine* lines) {
  const SourceLine::D d;
  SourceLine::for_vectors([&](int i, int source) HWY_ATTR {
    hn::Vec<SourceLine::D> v[kTransposed];
    MLUOPS_UNROLL
    for (int j = 0; j < kTransposed; ++j) v[j] = load_blocks(d, rows + source + j, at);
    transpose_in_blocks(d, v);
    MLUOPS_UNROLL
    for (int t = 0; t < kTransposed; ++t) lines[t].v[i] = v[t];
  });
}

/// Where the lines of a group of sources go, if rows of output are whole cache lines.
class AlignedLines {
 public:
  static constexpr std::int64_t kTogether =
      HWY_TARGET <= HWY_AVX3 ? 2 : 1;  ///< lines of a target that are put together by turns

  AlignedLines() = default;
  AlignedLines(std::int64_t map, std::uint32_t*) : map_(map) {}

  void start(std::uint32_t* to, bool, bool, bool, std::int64_t) { to_ = to; }

  HWY_INLINE void put(std::int64_t target, const SourceLine& line) const {
    std::uint32_t* const to = to_ + target * map_;
    SourceLine::for_vectors([&](int i, int lane) HWY_ATTR { hn::Stream(line.v[i], SourceLine::D(), to + lane); });
  }

 private:
  std::int64_t map_ = 0;
  std::uint32_t* to_ = nullptr;
};

#if HWY_TARGET <= HWY_AVX3
/// Where the lines of a group of sources go, if rows of output begin anywhere: a cache line takes its first sources
/// from the group before, whose lines are kept.
class CarriedLines {
 public:
  static constexpr std::int64_t kTogether = 1;

  CarriedLines() = default;
  /// `kept` has a line for each target of the block.
  CarriedLines(std::int64_t map, std::uint32_t* kept) : map_(map), kept_(kept) {}

  /// The value of the group's first source for the block's first target goes to `to`. It is the first group of its rows
  /// of output, or the last, of `count` sources, or one whose lines are only kept.
  void start(std::uint32_t* to, bool first, bool last, bool only_kept, std::int64_t count) {
    to_ = to, first_ = first, last_ = last, only_kept_ = only_kept, count_ = count;
    inner_ = !first && !last && !only_kept;
  }

  HWY_INLINE void put(std::int64_t target, const SourceLine& line) const {
    std::uint32_t *const to = to_ + target * map_, *const kept = kept_ + target * kLineSources;
    const auto shift = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % 64 / 4);
    const V whole = splice(hn::Load(D(), kept), line.v[0], shift);
    hn::Store(line.v[0], D(), kept);
    if (HWY_LIKELY(inner_)) {
      hn::Stream(whole, D(), to - shift);
    } else if (!only_kept_) {
      put_edge(to - shift, shift, whole, line.v[0]);
    }
  }

 private:
  using D = SourceLine::D;
  using V = hn::Vec<D>;

  /// A line that two rows of output share.
  HWY_NOINLINE void put_edge(std::uint32_t* to, std::int64_t shift, V whole, V line) const {
    const std::int64_t end = shift + count_;
    store_part(whole, first_ ? shift : 0, std::min(end, kLineSources), to);
    if (last_ && end > kLineSources) store_part(splice(line, line, shift), 0, end - kLineSources, to + kLineSources);
  }

  static void store_part(V v, std::int64_t begin, std::int64_t end, std::uint32_t* to) {
    HWY_ALIGN std::uint32_t elements[kLineSources];
    hn::Store(v, D(), elements);
    copy(elements + begin, to + begin, end - begin);
  }

  /// The last `shift` elements of a, then the first of b.
  static HWY_INLINE V splice(V a, V b, std::int64_t shift) {
    const V index = hn::LoadU(D(), kCounting.data() + kLineSources - shift);
    return V{_mm512_permutex2var_epi32(a.raw, index.raw, b.raw)};
  }

  std::int64_t map_ = 0;
  std::uint32_t *kept_ = nullptr, *to_ = nullptr;
  bool first_ = false, last_ = false, only_kept_ = false, inner_ = true;
  std::int64_t count_ = kLineSources;
};
#endif

/// Neighbouring sources from `first` on, 16 for each line: rows of what they have for the targets of a block. Those
/// past the last source are the last again.
template <std::int64_t kMost>
class SourceRows {
 public:
  SourceRows(const Window& win, const std::uint32_t* x, std::int64_t first, std::int64_t top) : width_(win.w_mask) {
    const std::int64_t last = win.h * win.w - 1;
    for (std::int64_t k = 0; k < kMost; ++k) {
      const std::int64_t source = std::min(first + k, last), h = source / win.w, w = source - h * win.w;
      top_[k] = x + source * win.h_mask * width_ + (top - h + win.half_h) * width_ + win.half_w - w;
    }
  }

  HWY_INLINE void at(std::int64_t row, const std::uint32_t** rows) const {
    for (std::int64_t k = 0; k < kMost; ++k) rows[k] = top_[k] + row * width_;
  }

 private:
  std::int64_t width_;
  const std::uint32_t* top_[kMost];
};

/// For the cache line of element t of each row.
template <int kLocality>
HWY_INLINE void prefetch_lines(const std::uint32_t* const* rows, std::int64_t n, std::int64_t t) {
  for (std::int64_t k = 0; k < n; ++k) prefetch_bytes<kLocality>(rows[k] + t, 1);
}

/// Rows `targets` of the targets, by one task, group of sources by group of sources.
template <class Lines>
class DistributeByLines {
 public:
  DistributeByLines(const Window& win, Range targets, std::uint32_t* kept)
      : win_(win), targets_(targets), kept_(kept) {}

  /// Groups [begin, end) of an image from x to y. What a cache line has of the group before, the task transposes
  /// itself.
  void run(std::int64_t begin, std::int64_t end, const std::uint32_t* x, std::uint32_t* y) {
    const std::int64_t map = win_.h * win_.w, last = ceil_div(map, kLineSources) - 1;
    const bool aligned = std::is_same_v<Lines, AlignedLines>;
    y += targets_.begin * win_.w * map;
    std::int64_t g = aligned ? begin : std::max<std::int64_t>(0, begin - 1);
    Sources group(win_, x, g * kLineSources, targets_.begin);
    for (; g < end; g += kTogether) {
      const Sources next(win_, x, (g + kTogether) * kLineSources, targets_.begin);
      const std::int64_t n = std::min(kTogether, end - g);
      std::array<Lines, kTogether> lines;
      lines.fill(Lines(map, kept_));
      for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t first = (g + k) * kLineSources;
        lines[k].start(y + first, g + k == 0, g + k == last, g + k < begin, std::min(map - first, kLineSources));
      }
      for (std::int64_t row = 0; row < targets_.size(); ++row) write_row(lines.data(), n, group, next, row);
      group = next;
    }
  }

 private:
  static constexpr std::int64_t kTogether = Lines::kTogether, kPrefetchRows = 4 / kTogether;
  using Sources = SourceRows<kTogether * kLineSources>;

  /// A row of targets for n groups. Prefetches the row a few rows on meanwhile, a line of each source in turn: these
  /// streams of memory are what all waits for, and so many are under way only as long as none gets ahead. Where too
  /// many are, requests are dropped, so lines are prefetched once more shortly before they are read, into the first
  /// cache.
  void write_row(const Lines* lines, std::int64_t n, const Sources& group, const Sources& next,
                 std::int64_t row) const {
    const std::uint32_t *rows[kTogether * kLineSources], *soon[kTogether * kLineSources];
    const std::int64_t later = row + std::min(kPrefetchRows, targets_.size()), sources = n * kLineSources;
    group.at(row, rows);
    later < targets_.size() ? group.at(later, soon) : next.at(later - targets_.size(), soon);
    for (std::int64_t t = 0; t < win_.w; t += kTransposed) {
      if (t % kLineSources == 0) {
        prefetch_lines<2>(soon, sources, t);
        if (kTogether > 1) prefetch_lines<3>(rows, sources, t + kLineSources < win_.w ? t + kLineSources : win_.w_mask);
      }
      if (t + kTransposed >= win_.w && win_.w % kLineSources != 1) prefetch_lines<2>(soon, sources, win_.w - 1);
      for (std::int64_t k = 0; k < n; ++k) write_transposed(lines[k], rows + k * kLineSources, t, row * win_.w);
    }
  }

  /// Targets from t on, of the row whose first is `row_target`.
  HWY_INLINE void write_transposed(const Lines& lines, const std::uint32_t* const* rows, std::int64_t t,
                                   std::int64_t row_target) const {
    SourceLine transposed[kTransposed];
    const std::int64_t at = std::min(t, win_.w - kTransposed);
    transpose_lines(rows, at, transposed);
    if (HWY_LIKELY(at == t)) {
      MLUOPS_UNROLL
      for (int i = 0; i < kTransposed; ++i) lines.put(row_target + t + i, transposed[i]);
    } else {
      for (; t < win_.w; ++t) lines.put(row_target + t, transposed[t - at]);
    }
  }

  const Window& win_;
  const Range targets_;
  std::uint32_t* const kept_;
};

/// Items are groups of sources, block of targets by block, image by image. A task writes the cache lines that begin
/// behind its first group's predecessor and end in its last group: no byte is written by two.
template <class Lines>
void distribute_by_lines(const Loop& loop, const mluopsPsamaskForwardProblem& p, std::int64_t block_rows,
                         std::byte* kept_lines, std::int64_t slot_bytes) {
  const Window win(p.shape);
  const std::int64_t map = win.h * win.w, groups = ceil_div(map, kLineSources), blocks = ceil_div(win.h, block_rows);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    auto* const kept = reinterpret_cast<std::uint32_t*>(kept_lines + slot * slot_bytes);
    for (std::int64_t item = begin; item < end;) {
      const std::int64_t first = item % groups, n = std::min(groups - first, end - item);
      const std::int64_t image = item / (groups * blocks), top = item / groups % blocks * block_rows;
      DistributeByLines<Lines> block(win, {top, std::min(win.h, top + block_rows)}, kept);
      block.run(first, first + n, static_cast<const std::uint32_t*>(p.x) + image * map * win.h_mask * win.w_mask,
                static_cast<std::uint32_t*>(p.y) + image * map * map);
      item += n;
    }
    non_temporal_fence();
  });
}
#endif

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
