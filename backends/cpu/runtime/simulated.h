// Loops as many threads would share them, run by one: how a call would scale on a machine with more cores than this
// one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace mluops::cpu {

/// What the simulated loops of the calling thread took so far: CPU time of the process, which other programs do not
/// lengthen; on Windows the time that has passed.
struct SimulatedLoops {
  std::int64_t loops = 0;
  double all_ns = 0;      ///< all chunks of all loops
  double longest_ns = 0;  ///< sum over loops: the time of the thread that ends last
  double clock_ns = 0;    ///< of reading the clock, in none of the others

  /// "loops all_ns longest_ns clock_ns"
  std::string text() const {
    return std::to_string(loops) + " " + std::to_string(all_ns) + " " + std::to_string(longest_ns) + " " +
           std::to_string(clock_ns);
  }
};

SimulatedLoops& simulated_loops();

inline double ns_of(std::clock_t ticks) {
  return 1e9 / CLOCKS_PER_SEC * static_cast<double>(ticks);
}

/// What reading the clock once takes. It is a system call on most machines: for a thousand parts to a loop it can take
/// longer than the parts.
inline double clock_read_ns() {
  static const double once = [] {
    constexpr int kReads = 200;
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 5; ++round) {
      const std::clock_t begin = std::clock();
      std::clock_t end = begin;
      for (int i = 0; i < kReads; ++i) end = std::clock();
      least = std::min(least, ns_of(end - begin) / kReads);
    }
    return least;
  }();
  return once;
}

/// Runs chunk(i) for i in [0, chunks), in this order, each counted for the thread that has been busy for the shortest
/// time, as threads claim them. Notes the times in `loops`.
template <class Chunk>
void run_simulated(SimulatedLoops& loops, int threads, std::int64_t chunks, Chunk&& chunk) {
  const double read_ns = clock_read_ns();
  std::vector<double> busy(static_cast<std::size_t>(threads), 0.0);
  std::clock_t before = std::clock();
  for (std::int64_t i = 0; i < chunks; ++i) {
    const auto free_first = std::min_element(busy.begin(), busy.end());
    chunk(i);
    const std::clock_t after = std::clock();
    *free_first += std::max(0.0, ns_of(after - before) - read_ns);
    before = after;
  }
  ++loops.loops;
  loops.clock_ns += read_ns * static_cast<double>(chunks + 1);
  for (const double ns : busy) loops.all_ns += ns;
  loops.longest_ns += *std::max_element(busy.begin(), busy.end());
}

}  // namespace mluops::cpu
