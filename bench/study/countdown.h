// How far a run is and about how long the rest takes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "bench/study/plan.h"

namespace bench {

class Countdown {
 public:
  Countdown(const std::vector<Group>& groups, const Options& options, const std::vector<Target>& targets);

  /// Says on stderr that the next group begins, and the time left: on a terminal in a line that the next one
  /// overwrites, elsewhere at most every half minute.
  void show(const std::string& group);
  void done() { ++done_; }

 private:
  using Clock = std::chrono::steady_clock;

  double seconds_left() const;

  std::vector<double> before_;  ///< expected seconds of the groups before each, and of all
  std::size_t done_ = 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

}  // namespace bench
