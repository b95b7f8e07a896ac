// How PSAMask's output is cut into blocks, and how one is put together in the second cache.
#if defined(MLUOPS_CPU_PSAMASK_STAGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_STAGE_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_STAGE_INL_H_
#endif

#include <algorithm>

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/kernels/psamask/lines-inl.h"
#include "backends/cpu/kernels/psamask/row_moves-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Parts that are written side by side.
constexpr std::int64_t kPartsTogether = 8;

/// An image of a tensor: [groups][parts][rows][columns]. In planes, a part is the plane of a cell, a group those of a
/// row of cells; in rows, a part is a pixel, a group a row of the map, or where rows become rows all of it.
struct Image {
  std::int64_t groups, parts, rows, columns;

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

/// A move whose output is cut into blocks.
template <class E>
class Blocks {
 public:
  const Move& move;
  const Image from, to;

  explicit Blocks(const Move& some)
      : move(some),
        from(image(some.from_planes, some.rows.from, some.columns.from)),
        to(image(some.to_planes, some.rows.to, some.columns.to)) {
    if (!staged()) {
      owns_ = 1, parts_ = std::min(kPartsTogether, to.parts), rows_ = to.rows;
      return;
    }
    constexpr std::int64_t kLeastParts = 16, kLeastRows = 8;
    const std::int64_t most = second_cache(28) / static_cast<std::int64_t>(sizeof(E)) / to.columns;
    parts_ = std::clamp(most / kLeastRows, std::min(kLeastParts, to.parts), to.parts);
    const std::int64_t rows = std::max<std::int64_t>(1, most / parts_);
    rows_ = std::clamp(rows / 2, std::min(kLeastRows, to.rows), to.rows);
    owns_ = std::clamp<std::int64_t>(rows / rows_, 1, to.groups);
  }

  /// Whether blocks are put together before they are written.
  bool staged() const { return move.from_planes || move.to_planes; }
  std::int64_t stage_elements() const { return staged() ? owns_ * parts_ * rows_ * to.columns + 2 * kLine : 0; }
  std::int64_t tasks() const { return ceil_div(to.groups, owns_); }  ///< of an image
  bool whole_parts() const { return rows_ == to.rows; }
  /// Parts that are under way at a time: those of a block, where another block goes on with their rows.
  std::int64_t under_way() const { return whole_parts() ? kPartsTogether : owns_ * parts_; }
  std::int64_t of_task() const { return ceil_div(to.parts, parts_) * ceil_div(to.rows, rows_); }

  /// Block i of all images: those of a task follow each other, row after row of the same parts.
  Block operator[](std::int64_t i) const {
    const std::int64_t runs = ceil_div(to.rows, rows_), task = i / of_task(), own = task % tasks() * owns_;
    const std::int64_t part = i % of_task() / runs * parts_, row = i % runs * rows_;
    return {task / tasks(),
            {own, std::min(to.groups, own + owns_)},
            {part, std::min(to.parts, part + parts_)},
            {row, std::min(to.rows, row + rows_)}};
  }

  const E* in(std::int64_t image) const { return static_cast<const E*>(move.from) + image * from.size(); }
  /// The first byte of a part of an own group.
  std::uint8_t* out(const Block& block, std::int64_t own, std::int64_t part) const {
    return reinterpret_cast<std::uint8_t*>(static_cast<E*>(move.to) + block.image * to.size() + to.at(own, part, 0));
  }

  static constexpr std::int64_t kLine = 64 / sizeof(E);  ///< before and behind the stage, read and not used

 private:
  Image image(bool planes, std::int64_t cell_rows, std::int64_t cell_columns) const {
    const std::int64_t height = move.rows.pixels, width = move.columns.pixels;
    if (planes) return {cell_rows, cell_columns, height, width};
    return staged() ? Image{height, width, cell_rows, cell_columns} : Image{1, height * width, cell_rows, cell_columns};
  }

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

/// A block of output, [owns, parts, rows, columns], put together by one thread.
template <class E>
class Stage {
 public:
  /// `frames`: scratch of RowMoves; `stage`: of Blocks::stage_elements().
  Stage(const Blocks<E>& blocks, E* frames, E* stage)
      : blocks_(blocks),
        move_(blocks.move),
        from_(blocks.from),
        rows_(blocks.move),
        row_moves_(blocks.move, frames),
        stage_(stage) {}

  /// Moves all groups to a block, each while the one behind it is prefetched, the last while the first of the next
  /// block is.
  void fill(const Block& block, const Block& next) {
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

  /// Row r of an own group's parts of a block.
  Rows<E> rows(const Block& block, std::int64_t own, std::int64_t r) const {
    const std::int64_t part = block.rows.size() * blocks_.to.columns;
    const std::int64_t first = (own - block.owns.begin) * block.parts.size() * part;
    return {stage_ + Blocks<E>::kLine + first + (r - block.rows.begin) * blocks_.to.columns, part};
  }
  Readable readable() const {
    const auto* const stage = reinterpret_cast<const std::uint8_t*>(stage_);
    return {stage, stage + blocks_.stage_elements() * static_cast<std::int64_t>(sizeof(E))};
  }

 private:
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

  void put_row(std::int64_t own, std::int64_t g, const Block& block) {
    if (!has_row(own, g, block)) return;
    const Rows<const E> from = {blocks_.in(block.image) + from_.at(g, 0, rows_.read(own, g)), from_.part()};
    row_moves_.run(from, block.parts, rows(block, own, rows_.written(own, g)), ahead_);
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
    const E* const first = blocks_.in(block.image) + from_.at(g, 0, read.begin);
    const std::int64_t steps = block.owns.size() * tiles;
    if (move_.from_planes) return {first, from_.part(), from_.parts, read.size() * from_.columns, steps};
    const Axis& axis = move_.columns;
    return {first + axis.offset(0), from_.part() + axis.step, from_.parts, axis.to, steps, from_.columns, read.size()};
  }

  const Blocks<E>& blocks_;
  const Move& move_;
  const Image& from_;
  const RowMap rows_;
  const RowMoves<E> row_moves_;
  E* const stage_;
  PrefetchPlanes ahead_;
};

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
