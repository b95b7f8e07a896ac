// What kernels assume of the machine they run on: the only place with cache sizes, with the sizes from which output is
// written past the caches, and with the costs that decide how many threads work is worth.
//
// Sizes of caches are read from the system. Costs were measured on one core of a server of 2022 with AVX-512; they need
// to be right within a factor of two or so, since they only choose numbers of threads and between paths.
#pragma once

#include <cstdint>

namespace mluops::cpu {

inline constexpr std::int64_t kCacheLineBytes = 64;

/// The second-level cache that sizes which must not differ from machine to machine are made for: where they cut sums,
/// they decide about the last bits.
inline constexpr std::int64_t kUsualSecondCacheBytes = std::int64_t{1} << 20;

/// Bytes of the second-level cache of a core that kernels count on: what the system says, between 256 KiB and
/// kUsualSecondCacheBytes; the latter where it says nothing.
std::int64_t second_cache_bytes();

/// parts / 64 of the second-level cache: a working set that leaves room for what is read and written beside it.
inline std::int64_t second_cache(std::int64_t parts) {
  return second_cache_bytes() / 64 * parts;
}

/// Sizes from which output is written with non-temporal stores: it would leave the second-level cache before anyone
/// reads it, and what it would displace is needed more. The lower the limit, the more of its input a kernel reads again
/// while it writes.
namespace non_temporal_from {
inline std::int64_t carafe() {
  return second_cache(128);
}
inline std::int64_t relayout() {
  return second_cache(64);
}
inline std::int64_t psamask() {
  return second_cache(64);
}
inline std::int64_t three_interpolate() {
  return second_cache(16);
}
inline std::int64_t border_align_forward() {
  return second_cache(16);
}
inline std::int64_t border_align_backward() {
  return second_cache(8);
}
inline std::int64_t roi_mean_forward() {
  return second_cache(16);
}
inline std::int64_t roi_mean_backward() {
  return second_cache(32);
}
}  // namespace non_temporal_from

/// Nanoseconds of one thread.
namespace cost {
// Threads.
inline constexpr double kThread = 15'000;  ///< work that repays waking a thread and waiting for it
/// Work that repays it where a call has many loops, one after the other: each ends when its last thread does, which
/// beside other programs is when the scheduler comes to that thread, milliseconds later.
inline constexpr double kOneOfMany = 100'000;
inline constexpr double kChunk = 4'000;  ///< work of a chunk that makes claiming it free and still evens out the ends
inline constexpr double kRun = 10'000;   ///< work of a run of lines that repays preparing its first line once more
// Arithmetic, of one element, operands in the caches.
inline constexpr double kMultiplyAdd = 0.05;  ///< in register tiles
inline constexpr double kInterpolate = 0.15;  ///< three rows of a transposed block
inline constexpr double kTranspose = 0.15;
inline constexpr double kLookUp = 0.1;      ///< in a table in registers
inline constexpr double kPool = 0.11;       ///< one bilinear sample and the comparison
inline constexpr double kReadPixel = 0.03;  ///< one channel of one pixel, weighted
inline constexpr double kAddPixel = 0.06;   ///< the same, added to sums
// Memory, of one element.
inline constexpr double kGather = 1.5;       ///< three features, one by one
inline constexpr double kScatter = 1.0;      ///< added to a place of its own
inline constexpr double kAtomicAdd = 20;     ///< as kScatter, a compare-and-swap
inline constexpr double kMove = 0.2;         ///< cleared or converted, a whole tensor
inline constexpr double kWriteSum = 0.1;     ///< a sum that is complete, or added to another
inline constexpr double kMoveByte = 0.15;    ///< copied in pieces
inline constexpr double kZeroByte = 0.0115;  ///< with non-temporal stores
// Geometry of images.
inline constexpr double kFindSample = 2;           ///< of a bin along one axis
inline constexpr double kFindBin = 60;             ///< all samples of a bin
inline constexpr double kPlacePoint = 4;           ///< of a border
inline constexpr double kFindLine = 5;             ///< of a border
inline constexpr double kSortBin = 20;             ///< into a cell
inline constexpr double kSortTile = 40;            ///< into the tiles it lies on
inline constexpr double kBin = 10;                 ///< the two values of grad_offset
inline constexpr double kSampleChannel = 0.1;      ///< four pixels weighted
inline constexpr double kScatterChannel = 0.3;     ///< the same, and added to the four
inline constexpr double kAttentionSample = 3;      ///< its pixels found
inline constexpr double kAttentionChannel = 0.05;  ///< of one of its pixels, weighted or added to
inline constexpr double kSigmoidLogit = 1.5;       ///< of focal_loss
inline constexpr double kSoftmaxTarget = 40;       ///< of focal_loss: two powers and a logarithm
// Points.
inline constexpr double kDistance = 0.12;  ///< of two points
inline constexpr double kTreeLevel = 6;    ///< of a point, one level of a binary tree
inline constexpr double kNearest = 120;    ///< one found in a tree
inline constexpr double kThreeNearest = 200;
inline constexpr double kNeighbour = 40;  ///< one of k
inline constexpr double kBall = 500;
inline constexpr double kLiftPoint = 3;         ///< of two coordinates, into space
inline constexpr double kChamferGradPoint = 4;  ///< both of its sums
inline constexpr double kPickDistance = 0.3;    ///< of a pick among given distances
inline constexpr double kPick = 200;            ///< in a tree
inline constexpr double kGatherPoint = 0.4;     ///< one element
inline constexpr double kScatterPoint = 0.6;
inline constexpr double kAtomicScatterPoint = 6;
inline constexpr double kScoreElement = 0.25;  ///< of assign_score_withk
inline constexpr double kScoreGradElement = 0.4;
// Voxels and sparse tensors.
inline constexpr double kVoxelOfPoint = 8;
inline constexpr double kVoxelByte = 0.1;  ///< zeros behind a voxel's points
inline constexpr double kVoxelLookUp = 4;  ///< in a hash table
inline constexpr double kVoxelRow = 5;     ///< its coordinates written
inline constexpr double kListPair = 2;     ///< counted, or placed
inline constexpr double kReduceRow = 20;   ///< of dynamic_point_to_voxel
inline constexpr double kReduceElement = 0.2;
inline constexpr double kReduceGradRow = 15;
inline constexpr double kReduceGradElement = 0.3;
inline constexpr double kCopyRow = 10;
inline constexpr double kRowElement = 0.15;  ///< of a copied row
// Boxes.
inline constexpr double kPointInBox = 0.25;  ///< a point against a box
inline constexpr double kPointToRow = 2;     ///< before boxes are looked at
inline constexpr double kPrepareBox = 40;
inline constexpr double kWriteInside = 0.15;
inline constexpr double kTurnBox = 60;       ///< its corners
inline constexpr double kAlignedPair = 1.5;  ///< overlap of two boxes
inline constexpr double kTurnedPair = 4;     ///< few of which meet
inline constexpr double kTurnedOverlap = 20;
inline constexpr double kUprightIou = 0.3;    ///< of two boxes, one of a vector
inline constexpr double kRotatedIou = 5;      ///< likewise
inline constexpr double kSortVertices = 600;  ///< of a pair of rectangles
}  // namespace cost

}  // namespace mluops::cpu
