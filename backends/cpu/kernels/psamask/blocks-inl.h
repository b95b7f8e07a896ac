// PSAMask block by block.
//
// A task owns rows of the output's frames (planes) or of the map (rows of frames). From planes or to planes, what is
// read for several of them lies together, so a task has several, and puts its output together in the second cache, from
// where it leaves in whole cache lines; from rows to rows, it leaves as it is read. Bound by reading the covered cells
// and writing the output once.
#if defined(MLUOPS_CPU_PSAMASK_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_BLOCKS_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_BLOCKS_INL_H_
#endif

#include <algorithm>
#include <new>

#include "backends/cpu/kernels/psamask/lines-inl.h"
#include "backends/cpu/kernels/psamask/stage-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/prefetch.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Writes blocks, for one thread. A part that another block goes on with is not finished, so its last cache line is
/// written once and whole.
template <class E>
class BlockWriter {
 public:
  /// `writers`: memory for as many as are under way.
  BlockWriter(const Blocks<E>& blocks, const Stage<E>& stage, LineWriter* writers)
      : blocks_(blocks),
        stage_(stage),
        readable_(blocks.staged() ? stage.readable()
                                  : Readable{bytes_at(blocks.in(0)), bytes_at(blocks.in(blocks.move.images))}),
        writers_(writers) {
    for (std::int64_t i = 0; i < blocks.under_way(); ++i) new (writers + i) LineWriter(leaves_caches<E>(blocks.move));
  }

  /// Meanwhile what is read for `next` is prefetched, where that is not the stage's work.
  void write(const Block& block, const Block& next) {
    if (short_) return write_in_place(block);
    for (std::int64_t own = block.owns.begin; own < block.owns.end; ++own) {
      for (std::int64_t p = block.parts.begin; p < block.parts.end; p += kPartsTogether) {
        write_parts(block, own, {p, std::min(p + kPartsTogether, block.parts.end)}, next);
      }
    }
  }

 private:
  static std::int64_t bytes(std::int64_t elements) { return elements * static_cast<std::int64_t>(sizeof(E)); }
  static const std::uint8_t* bytes_at(const E* p) { return reinterpret_cast<const std::uint8_t*>(p); }

  /// Whether pieces are shorter than cache lines and lie apart, or in the caches: the lines around them would take
  /// longer than they do.
  bool are_short() const {
    const std::int64_t read = blocks_.from.columns, written = blocks_.to.columns;
    const bool stream = read <= written && leaves_caches<E>(blocks_.move);
    return !blocks_.staged() && !stream && bytes(std::min(read, written)) < kCacheLineBytes;
  }

  void write_in_place(const Block& block) {
    constexpr std::int64_t kAhead = 4;  // pixels
    for (std::int64_t part = block.parts.begin; part < block.parts.end; ++part) {
      const Pieces p = pieces_of(block, 0, part);
      std::uint8_t* const out = blocks_.out(block, 0, part);
      zero_bytes(false, out, bytes(blocks_.to.part()));
      for (std::int64_t r = 0; r < p.rows; ++r) {
        const std::uint8_t* const from = p.from + r * p.stride;
        prefetch_bytes<2>(from + kAhead * bytes(blocks_.from.part()), p.count);
        RowMoves<E>::copy(reinterpret_cast<const E*>(from), p.count / static_cast<std::int64_t>(sizeof(E)),
                          reinterpret_cast<E*>(out + p.before + r * (p.count + p.between)));
      }
    }
  }

  /// Row by row of each in turn, so that as many streams of memory are under way.
  void write_parts(const Block& block, std::int64_t own, Range parts, const Block& next) {
    const std::int64_t first = (own - block.owns.begin) * block.parts.size() + parts.begin - block.parts.begin;
    LineWriter* const writers = writers_ + (blocks_.whole_parts() ? 0 : first);
    Pieces pieces[kPartsTogether], later[kPartsTogether];
    std::int64_t rows = 0, ahead[kPartsTogether];
    for (std::int64_t k = 0; k < parts.size(); ++k) {
      pieces[k] = pieces_of(block, own, parts.begin + k);
      if (!blocks_.staged()) {
        later[k] = pieces_of(next, next.owns.begin, std::min(next.parts.begin + k, next.parts.end - 1));
        ahead[k] = std::min(pieces[k].rows, 1024 / pieces[k].count + 1);
      }
      rows = std::max(rows, pieces[k].rows);
      if (block.rows.begin == 0) {
        std::uint8_t* const out = blocks_.out(block, own, parts.begin + k);
        writers[k].start(out);
        __builtin_prefetch(out + bytes(blocks_.to.part()), 1);  // shared with the next part: stores would wait for it
      }
      writers[k].zeros(pieces[k].before);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t k = 0; k < parts.size(); ++k) {
        if (r >= pieces[k].rows) continue;
        if (!blocks_.staged()) prefetch_row(r + ahead[k], pieces[k], later[k]);
        writers[k].copy(pieces[k].from + r * pieces[k].stride, pieces[k].count, readable_);
        const std::int64_t zeros = r + 1 < pieces[k].rows ? pieces[k].between : pieces[k].behind;
        if (zeros > 0) writers[k].zeros(zeros);
      }
    }
    if (block.rows.end < blocks_.to.rows) return;
    for (std::int64_t k = 0; k < parts.size(); ++k) writers[k].finish();
  }

  /// The row so many rows on: of this part, or of the one that comes later. Gaps no longer than a piece are prefetched
  /// with it: without them the prefetchers lose the stream.
  static HWY_INLINE void prefetch_row(std::int64_t r, const Pieces& p, const Pieces& later) {
    const std::uint8_t* const row = r < p.rows ? p.from + r * p.stride : later.from + (r - p.rows) * p.stride;
    prefetch_bytes<2>(row, p.stride <= 2 * p.count ? p.stride : p.count);
  }

  /// What the rows of a block have of a part.
  Pieces pieces_of(const Block& block, std::int64_t own, std::int64_t part) const {
    const Move& move = blocks_.move;
    const Image &from = blocks_.from, &to = blocks_.to;
    if (!blocks_.staged()) {
      const std::int64_t h = part / move.columns.pixels, w = part % move.columns.pixels;
      const Range rows = move.rows.moved(h), columns = move.columns.moved(w);
      const E* const first = blocks_.in(block.image) + from.at(0, part, rows.begin + move.rows.offset(h));
      return pieces(rows, columns, to.rows, first + columns.begin + move.columns.offset(w), from.columns);
    }
    const Range rows = RowMap(move).moved(own, block.rows);
    const Range columns = move.to_planes ? Range{0, to.columns} : move.columns.moved(part);
    const E* const first = stage_.rows(block, own, rows.begin)[part - block.parts.begin];
    return pieces({rows.begin - block.rows.begin, rows.end - block.rows.begin}, columns, block.rows.size(),
                  first + columns.begin, to.columns);
  }

  Pieces pieces(Range rows, Range columns, std::int64_t height, const E* from, std::int64_t stride) const {
    return Pieces::of(rows, {bytes(columns.begin), bytes(columns.end)}, height, bytes(blocks_.to.columns),
                      bytes_at(from), bytes(stride))
        .joined();
  }

  const Blocks<E>& blocks_;
  const Stage<E>& stage_;
  const Readable readable_;
  const bool short_ = are_short();
  LineWriter* const writers_;
};

/// A thread's scratch.
template <class E>
struct BlockScratch {
  E* frames;
  E* stage;
  LineWriter* writers;

  BlockScratch(Allocator& allocator, const Blocks<E>& blocks)
      : frames(allocator.allocate<E>(RowMoves<E>::kPixels, RowMoves<E>::pitch(blocks.move))),
        stage(allocator.allocate<E>(blocks.stage_elements())),
        writers(allocator.allocate<LineWriter>(blocks.under_way())) {}
};

template <class E>
mluOpStatus_t move_blocks(Context& context, const mluopsCall& call, const Move& move) {
  const Blocks<E> blocks(move);
  const std::int64_t of_task = blocks.staged() ? blocks.of_task() : 1;
  const std::int64_t tasks = move.images * blocks.tasks() * blocks.of_task() / of_task;
  const double bytes = static_cast<double>(move.written()) * sizeof(E);
  const Loop loop(context, call, tasks, cost::kMoveByte * bytes / static_cast<double>(tasks));
  const auto scratch = allocate<SlotScratch<BlockScratch<E>>>(context.arena, static_cast<int>(loop.slots()), blocks);
  if (!scratch) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const BlockScratch<E> own = scratch->of(slot, blocks);
    Stage<E> stage(blocks, own.frames, own.stage);
    BlockWriter<E> writer(blocks, stage, own.writers);
    const std::int64_t last = end * of_task - 1;
    for (std::int64_t i = begin * of_task; i <= last; ++i) {
      const Block block = blocks[i], next = blocks[std::min(i + 1, last)];
      if (blocks.staged()) stage.fill(block, next);
      writer.write(block, next);
    }
    if (leaves_caches<E>(move)) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
