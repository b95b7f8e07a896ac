// What kernels assume of the machine they run on: the only place with cache sizes, and with the costs that decide how
// many threads work is worth. Kernels say what they do in these: so many elements, so many steps.
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

/// Nanoseconds of one thread.
namespace cost {
// Threads.
inline constexpr double kThread = 15'000;  ///< work that repays waking a thread and waiting for it
/// Work that repays it where a call has many loops, one after the other: each ends when its last thread does, which
/// beside other programs is when the scheduler comes to that thread, milliseconds later.
inline constexpr double kOneOfMany = 100'000;
inline constexpr double kChunk = 4'000;  ///< work of a chunk that makes claiming it free and still evens out the ends
// Elements, of tensors in the caches unless it says otherwise.
inline constexpr double kMultiplyAdd = 0.05;  ///< in register tiles
inline constexpr double kElement = 0.15;      ///< of a vector: loaded, combined with another, kept
inline constexpr double kFunction = 0.75;     ///< of a vector: an exponential, a logarithm
inline constexpr double kMove = 0.2;          ///< read or written, cleared or converted, a whole tensor of the memory
inline constexpr double kMoveByte = 0.15;     ///< likewise, of bytes copied in pieces
inline constexpr double kGather = 0.5;        ///< loaded from where an index says
inline constexpr double kScatter = 1.0;       ///< added where an index says
inline constexpr double kAtomicAdd = 10;      ///< likewise, by a compare-and-swap
// Scalar code.
inline constexpr double kStep = 2;  ///< some dependent instructions and a branch
}  // namespace cost

}  // namespace mluops::cpu
