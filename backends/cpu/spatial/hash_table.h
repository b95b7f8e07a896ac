// Where a key is in a table of open addressing, whatever the keys: hash tables that no data can flood.
//
// The mix is known, so keys can be made that all begin at one slot. No search goes farther than kMostProbes, and a
// kernel whose keys crowd beyond that goes on without hashing, by sorting: n log n, and the same results. With keys
// that nobody made to crowd and a table that is at most half full, a run of that length comes once in 10^10 keys.
#pragma once

#include <cstdint>

namespace mluops::cpu::spatial {

constexpr int kMostProbes = 128;

/// One more word of a key; starts with 0.
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return (hash ^ word) * 0x9E3779B97F4A7C15u;
}

/// The first slot from that of `hash` on for which stop(slot) is true, -1 when it is none of kMostProbes. `slots` is a
/// power of two.
template <class Stop>
inline std::int64_t find_slot(std::uint64_t hash, std::int64_t slots, const Stop& stop) {
  const std::int64_t mask = slots - 1;
  std::int64_t slot = static_cast<std::int64_t>(hash ^ hash >> 32) & mask;
  for (int probe = 0; probe < kMostProbes; ++probe, slot = (slot + 1) & mask) {
    if (stop(slot)) return slot;
  }
  return -1;
}

}  // namespace mluops::cpu::spatial
