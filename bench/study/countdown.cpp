#include "bench/study/countdown.h"

#include <unistd.h>

#include <cstdio>

#include "bench/output/table.h"

namespace bench {
namespace {

// Guesses: only their proportions matter, and the run itself tells how fast the machine is.
constexpr double kSecondsOfAFlop = 3e-9;       ///< of the reference, which uses one thread for each call
constexpr double kSecondsOfAByte = 1.5e-9;     ///< of filling and comparing
constexpr double kSecondsOfAnEmulation = 1.5;  ///< of a case that an emulated machine runs
constexpr double kTimesMinTime = 2.5;          ///< calls that are not counted, and looks at the machine

double expected_seconds(const std::vector<Job>& jobs, const Options& options) {
  double seconds = 0;
  for (const Job& job : jobs) {
    if (options.check) seconds += job.spec.flops * kSecondsOfAFlop;
    seconds += job.spec.all_bytes() * kSecondsOfAByte;
    for (const Target& t : job.targets) {
      seconds += t.emulated() ? kSecondsOfAnEmulation : options.min_seconds * options.repetitions * kTimesMinTime;
    }
  }
  return seconds;
}

std::string duration(double seconds) {
  return seconds < 90 ? format("%.0f s", seconds) : format("%.0f min", seconds / 60);
}

}  // namespace

Countdown::Countdown(const std::vector<Group>& groups, const Options& options, const std::vector<Target>& targets)
    : before_{0} {
  for (const Group& g : groups) {
    // To describe all cases only to guess their times would take a good part of a short run.
    before_.push_back(before_.back() + (options.brief ? 1 : expected_seconds(jobs_of(g, options, targets), options)));
  }
}

double Countdown::seconds_left() const {
  const double passed = std::chrono::duration<double>(Clock::now() - start_).count();
  const double speed = done_ == 0 ? 1 : passed / before_[done_];
  return (before_.back() - before_[done_]) * speed;
}

void Countdown::show(const std::string& group) {
  const std::string left =
      format("%zu of %zu cases, about %s left", done_, before_.size() - 1, duration(seconds_left()).c_str());
  if (isatty(STDERR_FILENO) != 0) return progress(left + ": " + group);
  if (done_ > 0 && Clock::now() - shown_ < std::chrono::seconds(30)) return;
  shown_ = Clock::now();
  std::fprintf(stderr, "%s\n", left.c_str());
}

}  // namespace bench
