// What both directions of ThreeInterpolate share: how the work is cut, and the neighbours of all points.
//
// Gathering along a feature row costs three random reads per element. Turned round, [C, M] to [M, a cache line of
// channels], one point is one line: three reads serve 16 channels, whatever M and N are. The turned block stays in the
// first or second cache; features, output and their gradients each cross the memory bus once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/element.h"
#include "backends/cpu/scratch.h"
#include "common/shape.h"
#include "mluops/problem.h"

namespace mluops::cpu::three_interpolate {

using Shape = mluopsThreeInterpolateShape;

/// Output larger than this leaves the caches before anyone reads it: write past them.
constexpr std::int64_t kStreamBytes = std::int64_t{1} << 18;
/// Points that are put together before they are streamed: whole cache lines of every channel.
constexpr std::int64_t kTilePoints = 64;
/// Points whose neighbours the row-wise path widens and checks at once.
constexpr std::int64_t kPointsAtOnce = 256;
/// Cost in nanoseconds of one element of a block: interpolated, turned, and gathered one by one.
constexpr double kBlockNs = 0.15, kTurnNs = 0.15, kGatherNs = 1.5;
/// The same of one addition to a row of sums.
constexpr double kAddNs = 1.0;
/// The same of one element looked up in registers.
constexpr double kTableNs = 0.1;
/// Up to so many channels their gradients are summed one by one.
constexpr std::int64_t kFewChannels = 2;
/// How far ahead in a row gradients are asked for.
constexpr std::int64_t kLeadBytes = 1024;

/// Backward by steps: points of a register, features at most, steps of 16 points on average at most, and from how many
/// channels on making the steps of an image pays.
constexpr std::int64_t kSteppedPoints = 16, kSteppedFeatures = 16, kMostSteps = 12, kSteppingChannels = 32;
constexpr std::int64_t kFewFeatures = 8;

/// Channels of a block: one cache line of sums.
template <class A>
constexpr std::int64_t kBlock = 64 / sizeof(A);

/// Whether the elements of M turned points and one more can be counted in 32 bits.
template <class A>
bool may_turn(const Shape& s) {
  return (s.m + 1) * kBlock<A> <= std::int64_t{UINT32_MAX};
}

/// Turning M points pays when a good part of them is used, by more than a few channels.
template <class A>
bool turn_pays(const Shape& s) {
  const double blocks = static_cast<double>(ceil_div(s.c, kBlock<A>)) * static_cast<double>(kBlock<A>);
  const double turned = blocks * (static_cast<double>(s.m) * kTurnNs + static_cast<double>(s.n) * kBlockNs);
  return may_turn<A>(s) && turned < static_cast<double>(s.c) * static_cast<double>(s.n) * kGatherNs;
}

/// How the work is cut. Of one image, an item is `group` blocks of channels, all their points; or where there are few
/// blocks, one of `parts` runs of points of one block.
template <class A>
struct Cut {
  std::int64_t blocks, parts, points, group, groups;

  Cut(const Shape& s, std::int64_t wanted_items, std::int64_t wanted_groups)
      : blocks(ceil_div(s.c, kBlock<A>)),
        parts(std::clamp<std::int64_t>(wanted_items / (s.b * blocks), 1, 1 + s.n / (4 * s.m + 1024))),
        points(round_up(ceil_div(s.n, parts), kTilePoints)),
        group(parts > 1 ? 1 : std::clamp<std::int64_t>(s.b * blocks / wanted_groups, 1, blocks)),
        groups(ceil_div(blocks, group)) {}
  std::int64_t items(const Shape& s) const { return s.b * groups * parts; }
};

/// An item of a Cut: blocks [first_block, last_block) and points [first, last) of image b.
struct Item {
  std::int64_t b, first_block, last_block, first, last;

  template <class A>
  Item(const Cut<A>& cut, const Shape& s, std::int64_t item)
      : b(item / (cut.groups * cut.parts)),
        first_block(item / cut.parts % cut.groups * cut.group),
        last_block(std::min(cut.blocks, first_block + cut.group)),
        first(std::min(s.n, item % cut.parts * cut.points)),
        last(std::min(s.n, first + cut.points)) {}
};

/// Neighbours of a run of points, range-checked and widened: an index outside [0, M-1] becomes M, a row of its own.
template <class A>
struct Neighbours {
  std::uint32_t* rows;  ///< [points, 3], times the size of a row where features are turned
  A* weights;           ///< [points, 3]; 0 where the row is M
};

/// The working memory of a call: for each of `slots` the neighbours of one run of points, and `block_count` blocks.
template <class A>
struct Arrays {
  std::int64_t points, block_size;
  std::uint32_t* rows;
  A* weights;
  A* blocks;  ///< [block_count, M + 1, kBlock]

  Arrays(Carver& carver, const Shape& s, std::int64_t run, std::int64_t slots, std::int64_t block_count)
      : points(run),
        block_size((s.m + 1) * kBlock<A>),
        rows(carver.take<std::uint32_t>(slots * 3 * points)),
        weights(carver.take<A>(slots * 3 * points)),
        blocks(carver.take<A>(block_count * block_size)) {}

  Neighbours<A> near(std::int64_t slot) const { return {rows + slot * 3 * points, weights + slot * 3 * points}; }
  A* block(std::int64_t which) const { return blocks + which * block_size; }
};

/// Steps pay where every feature is near to a few of 16 points, for enough channels and items.
template <class T>
bool steps_pay(const Shape& s) {
  return std::is_same_v<Acc<T>, float> && s.m >= kFewFeatures && s.m <= kSteppedFeatures && s.c >= kSteppingChannels &&
         s.b * ceil_div(s.c, kBlock<float>) >= 32;
}

/// What every feature does for each 16 points in turn: in a step it takes from one of them.
struct Steps {
  std::uint32_t* lengths;   ///< [runs of 16 points]: how many steps
  std::uint16_t* features;  ///< [steps]: bit f: feature f has a point left
  std::uint32_t* points;    ///< [steps, 16]: which of the 16
  float* weights;           ///< [steps, 16]

  void advance(std::int64_t steps) {
    ++lengths, features += steps, points += kSteppedFeatures * steps, weights += kSteppedFeatures * steps;
  }
};

/// The working memory of backward by steps, per slot: the steps of an image; neighbours and sums for images they do
/// not suit.
struct StepArrays {
  std::int64_t runs, points;
  Steps steps;
  Arrays<float> rest;

  StepArrays(Carver& carver, const Shape& s, std::int64_t slots)
      : runs(ceil_div(s.n, kSteppedPoints)),
        points(s.n),
        steps{carver.take<std::uint32_t>(slots * runs), carver.take<std::uint16_t>(slots * runs * kMostSteps),
              carver.take<std::uint32_t>(slots * runs * kMostSteps * kSteppedFeatures),
              carver.take<float>(slots * runs * kMostSteps * kSteppedFeatures)},
        rest(carver, s, s.n, slots, slots) {}

  Steps of(std::int64_t slot) const {
    const std::int64_t first = slot * runs * kMostSteps;
    return {steps.lengths + slot * runs, steps.features + first, steps.points + first * kSteppedFeatures,
            steps.weights + first * kSteppedFeatures};
  }
};

}  // namespace mluops::cpu::three_interpolate
