// PSAMask from planes or to planes: put together block by block.
//
// A task owns rows of the output's frames (planes) or of the map (rows of frames). What is read for several of them
// lies together, so a task has several, and puts its output together in the second cache, from where it leaves in whole
// cache lines. Bound by reading the covered cells and writing the output once.
#if defined(MLUOPS_CPU_PSAMASK_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_BLOCKS_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_BLOCKS_INL_H_
#endif

#include <algorithm>
#include <new>

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/kernels/psamask/lines-inl.h"
#include "backends/cpu/kernels/psamask/row_moves-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// An image of a tensor: [groups][parts][rows][columns]. In planes, a part is the plane of a cell, a group those of a
/// row of cells; in rows, a part is a pixel, a group a row of the map.
struct Image {
  std::int64_t groups, parts, rows, columns;

  Image(bool planes, std::int64_t cell_rows, std::int64_t cell_columns, std::int64_t map_rows, std::int64_t map_columns)
      : groups(planes ? cell_rows : map_rows),
        parts(planes ? cell_columns : map_columns),
        rows(planes ? map_rows : cell_rows),
        columns(planes ? map_columns : cell_columns) {}

  std::int64_t part() const { return rows * columns; }
  std::int64_t size() const { return groups * parts * part(); }
  /// Where a row of a part is.
  std::int64_t at(std::int64_t group, std::int64_t part_of_group, std::int64_t row) const {
    return (group * parts + part_of_group) * part() + row * columns;
  }
};

/// Own groups of an image, some parts of each, and some rows of these parts.
struct Block {
  std::int64_t image;
  Range owns, parts, rows;
};

/// How output is cut into blocks.
template <class E>
class Blocks {
 public:
  explicit Blocks(const Image& to) : to_(to) {
    constexpr std::int64_t kLeastParts = 16, kLeastRows = 8;
    const std::int64_t most = second_cache(28) / static_cast<std::int64_t>(sizeof(E)) / to.columns;
    parts_ = std::clamp(most / kLeastRows, std::min(kLeastParts, to.parts), to.parts);
    const std::int64_t rows = std::max<std::int64_t>(1, most / parts_);
    rows_ = std::clamp(rows / 2, std::min(kLeastRows, to.rows), to.rows);
    owns_ = std::clamp<std::int64_t>(rows / rows_, 1, to.groups);
  }

  /// Whether the blocks of a task follow each other in memory.
  bool joined() const { return rows_ == to_.rows && parts_ == to_.parts; }
  std::int64_t elements() const { return owns_ * parts_ * rows_ * to_.columns; }
  std::int64_t tasks() const { return ceil_div(to_.groups, owns_); }  ///< of an image
  /// Parts that are under way at a time: those of a block, where another block goes on with their rows.
  std::int64_t under_way() const { return rows_ == to_.rows ? 1 : owns_ * parts_; }

  std::int64_t of_task() const { return ceil_div(to_.parts, parts_) * ceil_div(to_.rows, rows_); }

  /// Block i of all images: those of a task follow each other, row after row of the same parts.
  Block operator[](std::int64_t i) const {
    const std::int64_t runs = ceil_div(to_.rows, rows_), task = i / of_task(), own = task % tasks() * owns_;
    const std::int64_t part = i % of_task() / runs * parts_, row = i % runs * rows_;
    return {task / tasks(),
            {own, std::min(to_.groups, own + owns_)},
            {part, std::min(to_.parts, part + parts_)},
            {row, std::min(to_.rows, row + rows_)}};
  }

 private:
  const Image to_;
  std::int64_t owns_, parts_, rows_;  ///< of a block
};

/// Which rows of the parts of a group that is read become which rows of an own group.
class RowMap {
 public:
  explicit RowMap(const Move& move) : axis_(move.rows), from_planes_(move.from_planes), to_planes_(move.to_planes) {}

  /// Row of the map.
  std::int64_t pixel(std::int64_t own, std::int64_t group) const {
    if (!from_planes_) return group;
    return to_planes_ ? axis_.pixel(group, own) : own;
  }
  std::int64_t written(std::int64_t own, std::int64_t group) const {
    return to_planes_ ? pixel(own, group) : group - axis_.offset(own);
  }
  std::int64_t read(std::int64_t own, std::int64_t group) const {
    return from_planes_ ? pixel(own, group) : own + axis_.offset(group);
  }
  /// Which of `rows` of an own group come from another; others are zeros.
  Range moved(std::int64_t own, Range rows) const {
    return clamped(to_planes_ ? axis_.pixels_of(own) : axis_.moved(own), rows);
  }

 private:
  Axis axis_;
  bool from_planes_, to_planes_;
};

/// Moves blocks, for one thread.
template <class E, bool kNonTemporal>
class Mover {
 public:
  using Writer = LineWriter<kNonTemporal>;

  /// A thread's scratch: what moves a row, where a block of output is put together, and what writes its parts. A part
  /// that another block goes on with is not finished, so its last cache line is written once and whole.
  struct Scratch {
    E* frames;
    E* stage;
    Writer* writers;

    Scratch(Allocator& allocator, const Move& move, const Blocks<E>& blocks)
        : frames(allocator.allocate<E>(RowMoves<E>::kPixels, RowMoves<E>::pitch(move))),
          stage(allocator.allocate<E>(stage_elements(blocks))),
          writers(allocator.allocate<Writer>(blocks.under_way())) {}
  };

  Mover(const Move& move, const Image& from, const Image& to, const Blocks<E>& blocks, const Scratch& scratch)
      : move_(move),
        from_(from),
        to_(to),
        blocks_(blocks),
        rows_(move),
        row_moves_(move, scratch.frames),
        stage_(scratch.stage),
        writers_(scratch.writers) {
    for (std::int64_t i = 0; i < blocks.under_way(); ++i) new (writers_ + i) Writer();
  }

  /// Tasks [begin, end).
  void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t last = end * blocks_.of_task() - 1;
    for (std::int64_t i = begin * blocks_.of_task(); i <= last; ++i) {
      move_groups(blocks_[i], blocks_[std::min(i + 1, last)]);
      write(blocks_[i]);
    }
  }

 private:
  static constexpr std::int64_t kLine = 64 / sizeof(E);  ///< before and behind the stage, read and not used
  static std::int64_t stage_elements(const Blocks<E>& blocks) { return blocks.elements() + 2 * kLine; }

  static std::int64_t bytes(std::int64_t elements) { return elements * static_cast<std::int64_t>(sizeof(E)); }

  const E* in(const Block& block) const { return static_cast<const E*>(move_.from) + block.image * from_.size(); }
  E* out(const Block& block) const { return static_cast<E*>(move_.to) + block.image * to_.size(); }

  /// Row r of an own group's parts of a block.
  Rows<E> target(const Block& block, std::int64_t own, std::int64_t r) const {
    const std::int64_t part = block.rows.size() * to_.columns;
    const std::int64_t first = (own - block.owns.begin) * block.parts.size() * part;
    return {stage_ + kLine + first + (r - block.rows.begin) * to_.columns, part};
  }

  /// Whether a group has a row for an own group of a block.
  bool has_row(std::int64_t own, std::int64_t g, const Block& block) const {
    const std::int64_t written = rows_.written(own, g), read = rows_.read(own, g);
    return written >= block.rows.begin && written < block.rows.end && read >= 0 && read < from_.rows;
  }

  /// Rows of a group's parts that a block needs.
  Range rows_of(std::int64_t g, const Block& block) const {
    Range some = {from_.rows, 0};
    for (std::int64_t own = block.owns.begin; g < from_.groups && own < block.owns.end; ++own) {
      if (!has_row(own, g, block)) continue;
      some.begin = std::min(some.begin, rows_.read(own, g));
      some.end = std::max(some.end, rows_.read(own, g) + 1);
    }
    return some;
  }

  /// All groups to a block, each while the one behind it is prefetched, the last while the first of the next block is.
  void move_groups(const Block& block, const Block& next) {
    Range rows = rows_of(0, block);
    for (std::int64_t g = 0; g < from_.groups; ++g) {
      const Range soon = rows_of(g + 1, block);
      if (rows.size() > 0) {
        ahead_ = soon.size() > 0 ? ahead(g + 1, soon, block) : first_ahead(next);
        for (std::int64_t own = block.owns.begin; own < block.owns.end; ++own) put_row(own, g, block);
      }
      rows = soon;
    }
  }

  void put_row(std::int64_t own, std::int64_t g, const Block& block) {
    if (!has_row(own, g, block)) return;
    const Rows<const E> from = {in(block) + from_.at(g, 0, rows_.read(own, g)), from_.part()};
    const Rows<E> to = target(block, own, rows_.written(own, g));
    row_moves_.run(from, block.parts, to, ahead_);
  }

  PrefetchPlanes first_ahead(const Block& block) const {
    for (std::int64_t g = 0; g < from_.groups; ++g) {
      if (const Range rows = rows_of(g, block); rows.size() > 0) return ahead(g, rows, block);
    }
    return {};
  }

  /// Rows of a group's parts, to be prefetched while another group is moved.
  PrefetchPlanes ahead(std::int64_t g, Range read, const Block& block) const {
    const std::int64_t tiles =
        ceil_div(move_.columns.pixels, RowMoves<E>::kPixels) * ceil_div(block.parts.size(), RowMoves<E>::kPixels);
    const E* const first = in(block) + from_.at(g, 0, read.begin);
    const std::int64_t steps = block.owns.size() * tiles;
    if (move_.from_planes) return {first, from_.part(), from_.parts, read.size() * from_.columns, steps};
    const Axis& axis = move_.columns;
    return {first + axis.offset(0), from_.part() + axis.step, from_.parts, axis.to, steps, from_.columns, read.size()};
  }

  /// The block from the stage to where it belongs.
  void write(const Block& block) {
    const auto* const stage = reinterpret_cast<const std::uint8_t*>(stage_);
    const Readable readable = {stage, stage + stage_elements(blocks_) * static_cast<std::int64_t>(sizeof(E))};
    for (std::int64_t own = block.owns.begin; own < block.owns.end; ++own) {
      for (std::int64_t p = block.parts.begin; p < block.parts.end; ++p) {
        Writer& writer = started_writer(block, own, p);
        writer.add(pieces(block, own, p).joined(), readable);
        if (!blocks_.joined() && block.rows.end == to_.rows) writer.finish();
      }
    }
    if (blocks_.joined()) writers_->finish();
  }

  /// The one of a part, which is at the block's first row.
  Writer& started_writer(const Block& block, std::int64_t own, std::int64_t part) {
    const std::int64_t k = (own - block.owns.begin) * block.parts.size() + part - block.parts.begin;
    Writer& writer = writers_[blocks_.under_way() == 1 ? 0 : k];
    if (blocks_.joined() ? k == 0 : block.rows.begin == 0) {
      auto* const at = reinterpret_cast<std::uint8_t*>(out(block) + to_.at(own, part, 0));
      writer.start(at, at);
    }
    return writer;
  }

  /// What the rows of a block have of a part.
  Pieces pieces(const Block& block, std::int64_t own, std::int64_t part) const {
    const Range rows = rows_.moved(own, block.rows);
    const Range cells = move_.to_planes ? Range{0, to_.columns} : move_.columns.moved(part);
    const Rows<E> at = target(block, own, rows.begin);
    return Pieces::of({rows.begin - block.rows.begin, rows.end - block.rows.begin},
                      {bytes(cells.begin), bytes(cells.end)}, block.rows.size(), bytes(to_.columns),
                      reinterpret_cast<const std::uint8_t*>(at[part - block.parts.begin] + cells.begin),
                      bytes(to_.columns));
  }

  const Move& move_;
  const Image from_, to_;
  const Blocks<E>& blocks_;
  const RowMap rows_;
  const RowMoves<E> row_moves_;
  E* const stage_;
  Writer* const writers_;
  PrefetchPlanes ahead_;
};

template <class E, bool kNonTemporal>
mluOpStatus_t run_blocks(Context& context, const mluopsCall& call, const Move& move) {
  using Worker = Mover<E, kNonTemporal>;
  const Image from(move.from_planes, move.rows.from, move.columns.from, move.rows.pixels, move.columns.pixels);
  const Image to(move.to_planes, move.rows.to, move.columns.to, move.rows.pixels, move.columns.pixels);
  const Blocks<E> blocks(to);
  const std::int64_t tasks = move.images * blocks.tasks();
  const double bytes = static_cast<double>(move.written()) * sizeof(E);
  const Loop loop(context, call, tasks, cost::kMoveByte * bytes / static_cast<double>(tasks));
  const auto scratch =
      allocate<SlotScratch<typename Worker::Scratch>>(context.arena, static_cast<int>(loop.slots()), move, blocks);
  if (!scratch) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Worker(move, from, to, blocks, scratch->of(slot, move, blocks)).run(begin, end);
    if (kNonTemporal) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class E>
mluOpStatus_t move_blocks(Context& context, const mluopsCall& call, const Move& move) {
  return leaves_caches<E>(move) ? run_blocks<E, true>(context, call, move) : run_blocks<E, false>(context, call, move);
}

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
