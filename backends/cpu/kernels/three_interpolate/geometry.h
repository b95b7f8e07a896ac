// What both directions of ThreeInterpolate share: how the work is cut, and the neighbours of all points.
//
// Gathering along a feature row costs three random reads per element. Transposed, [C, M] to [M, a cache line of
// channels], one point is one line: three reads serve 16 channels, whatever M and N are. The transposed block stays in
// the first or second cache; features, output and their gradients each cross the memory bus once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/layout/channel_block.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/simd/element.h"
#include "common/shape.h"
#include "mluops/problem/three_interpolate.h"

namespace mluops::cpu::three_interpolate {

using Shape = mluopsThreeInterpolateShape;

/// Points that are put together before they are copied out: whole cache lines of every channel.
constexpr std::int64_t kTilePoints = 64;
/// Points whose neighbours the row-wise path promotes and checks at once.
constexpr std::int64_t kPointsAtOnce = 256;
/// Features per point up to which most cache lines of a row are used.
constexpr std::int64_t kFewPerPoint = 32;
/// Up to so many channels their gradients are summed one by one.
constexpr std::int64_t kFewChannels = 2;
/// Channels of a block: one cache line of sums.
template <class A>
constexpr std::int64_t kBlock = layout::kBlockChannels<A>;

/// The rows of some channels: `channels` of them, `pitch` elements apart.
template <class T>
struct Rows {
  T* first;
  std::int64_t pitch, channels;
};

/// Whether the elements of M transposed points and one more can be counted in 32 bits.
template <class A>
bool can_transpose(const Shape& s) {
  return (s.m + 1) * kBlock<A> <= std::int64_t{UINT32_MAX};
}

/// Transposing M points pays when a good part of them is used, by more than a few channels.
template <class A>
bool transpose_pays(const Shape& s) {
  const double blocks = static_cast<double>(ceil_div(s.c, kBlock<A>)) * static_cast<double>(kBlock<A>);
  const double transposed = blocks * static_cast<double>(s.m + s.n) * cost::kElement;
  return can_transpose<A>(s) && transposed < static_cast<double>(s.c) * static_cast<double>(s.n) * 3 * cost::kGather;
}

/// How the work is cut. An item is, of one image, `group` blocks of channels, all their points; or where there are
/// few blocks, one of `parts` runs of points of one block.
template <class A>
struct WorkPartition {
  std::int64_t blocks, parts, points, group, groups;

  WorkPartition(const Shape& s, std::int64_t wanted_items, std::int64_t wanted_groups)
      : blocks(ceil_div(s.c, kBlock<A>)),
        parts(std::clamp<std::int64_t>(wanted_items / (s.b * blocks), 1, 1 + s.n / (4 * s.m + 1024))),
        points(round_up(ceil_div(s.n, parts), kTilePoints)),
        group(parts > 1 ? 1 : std::clamp<std::int64_t>(s.b * blocks / wanted_groups, 1, blocks)),
        groups(ceil_div(blocks, group)) {}
  std::int64_t items(const Shape& s) const { return s.b * groups * parts; }
};

/// An item of a WorkPartition: blocks [first_block, last_block) and points [first, last) of image b.
struct Item {
  std::int64_t b, first_block, last_block, first, last;

  template <class A>
  Item(const WorkPartition<A>& partition, const Shape& s, std::int64_t item)
      : b(item / (partition.groups * partition.parts)),
        first_block(item / partition.parts % partition.groups * partition.group),
        last_block(std::min(partition.blocks, first_block + partition.group)),
        first(std::min(s.n, item % partition.parts * partition.points)),
        last(std::min(s.n, first + partition.points)) {}
};

/// Neighbours of a run of points, range-checked and promoted: an index outside [0, M-1] becomes M, a row of its own.
template <class A>
struct Neighbours {
  std::uint32_t* rows;  ///< [points, 3], times the size of a row where features are transposed
  A* weights;           ///< [points, 3]; 0 where the row is M
};

/// The working memory of a call: for each of `slots` the neighbours of one run of points, and `block_count` blocks.
template <class A>
struct Arrays {
  std::int64_t points, block_size;
  std::uint32_t* rows;
  A* weights;
  A* blocks;  ///< [block_count, M + 1, kBlock]

  Arrays(Allocator& allocator, const Shape& s, std::int64_t run, std::int64_t slots, std::int64_t block_count)
      : points(run),
        block_size((s.m + 1) * kBlock<A>),
        rows(allocator.allocate<std::uint32_t>(slots, 3, points)),
        weights(allocator.allocate<A>(slots, 3, points)),
        blocks(allocator.allocate<A>(block_count, block_size)) {}

  Neighbours<A> near(std::int64_t slot) const { return {rows + slot * 3 * points, weights + slot * 3 * points}; }
  A* block(std::int64_t which) const { return blocks + which * block_size; }
};

}  // namespace mluops::cpu::three_interpolate
