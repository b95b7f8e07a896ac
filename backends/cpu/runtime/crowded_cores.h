// When loops do without other threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace mluops::cpu {

/// Whether other processes have the cores. A team's loop ends when its last thread has had a turn, which then takes
/// time slices, though the others have long done its share. So after such a wait loops run on their callers alone for a
/// while, a longer one each time it comes again. Times are nanoseconds of one clock. Results are the same for any
/// number of threads.
class CrowdedCores {
 public:
  /// Whether a loop that begins now runs on its caller alone.
  bool seen_lately(std::int64_t now) const { return now < until_.load(std::memory_order_relaxed); }
  void forget() { until_.store(0, std::memory_order_relaxed); }
  /// At `now` a loop ended: a thread came late_ns after the caller had found no work left, which had taken work_ns.
  void note(std::int64_t now, std::int64_t work_ns, std::int64_t late_ns) {
    if (late_ns < kLate || late_ns < 2 * work_ns) {
      pause_.store(kFirstPause, std::memory_order_relaxed);
      return;
    }
    const std::int64_t pause = pause_.load(std::memory_order_relaxed);
    until_.store(now + pause, std::memory_order_relaxed);
    pause_.store(std::min(2 * pause, kLastPause), std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t kLate = 2'000'000, kFirstPause = 20'000'000, kLastPause = 1'000'000'000;

  std::atomic<std::int64_t> until_{0}, pause_{kFirstPause};
};

}  // namespace mluops::cpu
