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
// Geometry.
inline constexpr double kFindSample = 2;  ///< of a bin along one axis
inline constexpr double kFindBin = 60;    ///< all samples of a bin
inline constexpr double kPlacePoint = 4;  ///< of a border
inline constexpr double kFindLine = 5;    ///< of a border
inline constexpr double kSortBin = 20;    ///< into a cell
inline constexpr double kSortTile = 40;   ///< into the tiles it lies on
inline constexpr double kBin = 10;        ///< the two values of grad_offset
}  // namespace cost

}  // namespace mluops::cpu
