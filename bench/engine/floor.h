// What a case's memory traffic alone costs: the bytes the operator must move, where they lie, and no arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/engine/workload.h"

namespace bench {

class Floor {
 public:
  explicit Floor(const Workload& workload);

  /// Bytes of the cache lines that must be read, each line counted once.
  double line_bytes() const;
  /// Median time of reading one word of each of those lines, in memory order, while every output is filled past the
  /// caches; set after set, for about that many seconds.
  double seconds(int threads, double measured_seconds) const;

 private:
  /// Consecutive cache lines of an input, or bytes of an output, counted from the start of a set.
  struct Piece {
    std::int64_t begin, size;
  };
  class Walk;

  void add_lines(std::int64_t first_byte, std::int64_t end_byte);
  void move(int set, int thread, int threads) const;

  const Workload& workload_;
  std::vector<Piece> reads_, writes_;  ///< sizes in cache lines
};

}  // namespace bench
