// PSAMask from rows to planes where frames cover the map: whole cache lines of output, straight from registers.
//
// A line of a plane is what kN neighbouring sources have for a target: their frames are read side by side, as many
// streams of memory, and transposed. Bound by reading them: pieces of a row each. Needs vectors as long as lines.
#if defined(MLUOPS_CPU_PSAMASK_AVX512_DISTRIBUTE_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_AVX512_DISTRIBUTE_LINES_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_AVX512_DISTRIBUTE_LINES_INL_H_
#endif

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// One image's rows `targets` of targets, by one task.
class DistributeByLines {
 public:
  using E = float;  ///< moved only, whatever its bits
  static constexpr std::int64_t kN = kLanes<E>;

  /// `kept` has a line for each target.
  DistributeByLines(const Move& move, std::int64_t image, Range targets, E* kept)
      : rows_(move.rows),
        columns_(move.columns),
        map_(rows_.pixels * columns_.pixels),
        targets_(targets),
        in_(static_cast<const E*>(move.from) + image * map_ * rows_.from * columns_.from),
        out_(static_cast<E*>(move.to) + (image * rows_.to + targets.begin) * columns_.to * map_),
        kept_(kept) {}

  /// Groups of kN sources. What the first line has of the group before, the task transposes itself.
  void run(Range groups) {
    const bool aligned = whole_lines(out_, map_ * static_cast<std::int64_t>(sizeof(E)));
    together_ = aligned ? kTogether : 1;
    begin_ = groups.begin * kN;
    const E *sources[kTogether * kN], *next[kTogether * kN];
    std::int64_t first = std::max<std::int64_t>(0, aligned ? begin_ : begin_ - kN);
    find_sources(first, next);
    for (; first < groups.end * kN; first += together_ * kN) {
      std::copy_n(next, kTogether * kN, sources);
      find_sources(first + together_ * kN, next);
      together_ = std::min(together_, groups.end - first / kN);
      inner_ = first > 0 && first >= begin_ && first + together_ * kN < map_;
      for (std::int64_t row = 0; row < targets_.size(); ++row) write_row(sources, next, row, first);
    }
  }

 private:
  using D = hn::ScalableTag<E>;
  using Vector = hn::Vec<D>;
  static constexpr std::int64_t kAhead = 2;     ///< rows
  static constexpr std::int64_t kTogether = 2;  ///< groups whose lines are whole: they follow each other in memory

  /// Where sources from `first` on have their value for the first target; those past the last are the last again.
  void find_sources(std::int64_t first, const E** sources) const {
    for (std::int64_t k = 0; k < kTogether * kN; ++k) {
      const std::int64_t source = std::min(first + k, map_ - 1), h = source / columns_.pixels,
                         w = source % columns_.pixels;
      const std::int64_t row = source * rows_.from + targets_.begin + rows_.offset(h);
      sources[k] = in_ + row * columns_.from + columns_.offset(w);
    }
  }

  /// A row of targets. The one kAhead rows on is prefetched meanwhile, a line of each source in turn: as many streams
  /// are under way only as long as none gets ahead. Where too many are, requests are dropped, so lines are requested
  /// once more shortly before their turn.
  void write_row(const E* const* sources, const E* const* next, std::int64_t row, std::int64_t first) const {
    const std::int64_t width = columns_.to, later = row + std::min(kAhead, targets_.size());
    const bool wraps = later >= targets_.size();
    const E* const* const soon = wraps ? next : sources;
    const std::int64_t soon_row = (wraps ? later - targets_.size() : later) * columns_.from;
    for (std::int64_t t = 0; t < width; t += kN) {
      for (std::int64_t k = 0; k < together_ * kN; k += kN) {
        const std::int64_t at = std::min(t, width - kN), after = t + kN < width ? t + kN : columns_.from;
        Vector v[kN];
        MLUOPS_UNROLL
        for (std::int64_t i = 0; i < kN; ++i) {
          __builtin_prefetch(soon[k + i] + soon_row + t, 0, 2);
          if (t + kN >= width) __builtin_prefetch(soon[k + i] + soon_row + width - 1, 0, 2);
          if (together_ > 1) __builtin_prefetch(sources[k + i] + row * columns_.from + after);
          v[i] = hn::LoadU(D(), sources[k + i] + row * columns_.from + at);
        }
        transpose_square<E>(v);
        for (std::int64_t i = t - at; i < kN; ++i) put(row * width + at + i, first + k, v[i]);
      }
    }
  }

  /// What kN sources from `source` on have for a target. Their line goes round, so that those that belong to the next
  /// cache line of output come first and wait there.
  HWY_INLINE void put(std::int64_t target, std::int64_t source, Vector line) const {
    constexpr D d;
    constexpr hn::RebindToUnsigned<D> du;
    E *const to = out_ + target * map_ + source, *const kept = kept_ + target * kN;
    const auto shift = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % 64 / sizeof(E));
    if (shift == 0 && inner_) return hn::Stream(line, d, to);
    const auto lanes =
        hn::And(hn::Sub(hn::Iota(du, kN), hn::Set(du, static_cast<std::uint32_t>(shift))), hn::Set(du, kN - 1));
    line = hn::TableLookupLanes(line, hn::IndicesFromVec(d, lanes));
    const Vector whole = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(shift)), hn::Load(d, kept), line);
    hn::Store(line, d, kept);
    if (HWY_LIKELY(inner_)) return hn::Stream(whole, d, to - shift);
    if (source < begin_) return;
    const std::int64_t end = shift + map_ - source;
    store_lanes(whole, to - shift, {source == 0 ? shift : 0, std::min(kN, end)});
    if (source + kN >= map_ && end > kN) store_lanes(line, to - shift + kN, {0, end - kN});
  }

  /// Stores some lanes of a vector and touches no other.
  static void store_lanes(Vector v, E* to, Range lanes) {
    const auto first = hn::FirstN(D(), static_cast<std::size_t>(lanes.begin));
    hn::BlendedStore(v, hn::AndNot(first, hn::FirstN(D(), static_cast<std::size_t>(lanes.end))), D(), to);
  }

  const Axis rows_, columns_;
  const std::int64_t map_;
  const Range targets_;
  const E* const in_;
  E* const out_;
  E* const kept_;
  std::int64_t together_ = 1, begin_ = 0;  ///< groups, and the first source whose lines are written
  bool inner_ = true;                      ///< no line is the first or the last of its row, and each is written
};

template <class E>
Fit distributes_by_lines(const Context&, const mluopsCall&, const Move& move) {
  constexpr bool fits_lines = sizeof(E) == 4 && kLanes<float> == 16;
  const bool covers = move.rows.covers() && move.columns.covers() && move.columns.to >= kLanes<float>;
  return fit(fits_lines && !move.from_planes && move.to_planes && covers, leaves_caches<E>(move));
}

/// How the targets' rows are cut into blocks and the groups of sources into runs, an item each. A run transposes the
/// group before it once more, so runs are as long as leaves a few items for each thread; for many threads there are
/// more blocks, of fewer rows.
struct LineTasks {
  std::int64_t groups, rows, blocks, run, runs;

  LineTasks(const Move& move, std::int64_t line_bytes, std::int64_t threads)
      : groups(ceil_div(move.rows.pixels * move.columns.pixels, DistributeByLines::kN)) {
    constexpr std::int64_t kPerThread = 3, kLeastRows = 8, kRunsOfBlock = 4;
    const std::int64_t height = move.rows.to, wanted = threads == 1 ? 1 : kPerThread * threads;
    const std::int64_t most = std::clamp<std::int64_t>(second_cache(15) / line_bytes, 1, height);
    const std::int64_t share = height / ceil_div(wanted, kRunsOfBlock * move.images);
    blocks = ceil_div(height, std::clamp(share, std::min(kLeastRows, most), most));
    rows = ceil_div(height, blocks);
    run = std::min(groups, ceil_div(move.images * blocks * groups, wanted));
    runs = ceil_div(groups, run);
  }
};

/// Items are runs of groups of sources, block of targets by block, image by image. A task writes the cache lines that
/// begin behind its first group's predecessor and end in its last group: no byte is written by two.
inline mluOpStatus_t distribute_by_lines(Context& context, const mluopsCall& call, const Move& move) {
  using E = DistributeByLines::E;
  const std::int64_t height = move.rows.to, width = move.columns.to, line_bytes = width * kCacheLineBytes;
  const double all_ns = cost::kMoveByte * static_cast<double>(move.written()) * sizeof(E);
  const LineTasks tasks(move, line_bytes, Loop(context, call, call.threads, all_ns / call.threads).slots());
  const std::int64_t items = move.images * tasks.blocks * tasks.runs;
  const Loop loop(context, call, items, all_ns / static_cast<double>(items));
  E* const kept = context.arena.reserve_array<E>(tasks.rows, width, DistributeByLines::kN, loop.slots());
  if (kept == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t item = begin; item < end;) {
      const std::int64_t first = item % tasks.runs, n = std::min(tasks.runs - first, end - item);
      const std::int64_t top = item / tasks.runs % tasks.blocks * tasks.rows;
      DistributeByLines block(move, item / (tasks.runs * tasks.blocks), {top, std::min(height, top + tasks.rows)},
                              kept + slot * tasks.rows * width * DistributeByLines::kN);
      block.run({first * tasks.run, std::min(tasks.groups, (first + n) * tasks.run)});
      item += n;
    }
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
