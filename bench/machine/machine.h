// The roof: what this machine moves and computes at best, measured.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "bench/machine/memory.h"

namespace bench {

/// What the machine does at one number of threads. Bytes and flops per second.
struct Roof {
  int threads = 1;
  double read = 0;   ///< plain loads of a buffer larger than the caches
  double fill = 0;   ///< non-temporal stores of a value that is not zero
  double zero = 0;   ///< non-temporal stores of zero, which some machines do faster; not part of the bound
  double copy = 0;   ///< loads and non-temporal stores; counts both directions
  double flops = 0;  ///< float32 fused multiply-adds, two flops each

  /// Seconds that a task cannot beat: it must read and write that many bytes and do that many flops.
  double bound(double read_bytes, double write_bytes, double task_flops) const;
  /// Which of the four terms is the largest: "read", "fill", "copy" or "fma".
  const char* limit(double read_bytes, double write_bytes, double task_flops) const;
  /// The better of both, figure by figure.
  void raise_to(const Roof& other);
};

/// Measures the roof over and over in a run, because a shared machine drifts.
class Machine {
 public:
  /// Share of the most multiply-adds of the run below which the cores count as disturbed.
  static constexpr double kUndisturbed = 0.85;

  /// Measures on memory beyond a cache of that many bytes; what was measured holds for so many seconds.
  explicit Machine(const std::vector<int>& threads, std::int64_t cache = last_level_cache(),
                   double fresh_seconds = 0.5);

  /// The roof at this moment: measured now, unless that was done just before.
  const Roof& now(int threads);
  /// Whether the cores do, now, at least that share. A host that runs
  /// two of its virtual processors on one core for a while gives each the half of it.
  bool undisturbed(int threads);
  /// How often that was asked, and how often the answer was no.
  int looks() const { return looks_; }
  int disturbed_looks() const { return disturbed_looks_; }
  /// The upper quartile of the run, figure by figure.
  const Roof& at(int threads) const;
  const std::vector<Roof>& roofs() const { return roofs_; }
  /// All measurements at roofs()[i].threads.
  const std::vector<Roof>& samples(std::size_t i) const { return samples_[i]; }

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t index_of(int threads) const;
  std::size_t buffer_bytes() const;
  Roof measure(int threads) const;

  std::int64_t cache_;
  std::chrono::duration<double> fresh_;
  std::optional<Pages> from_, to_;  ///< of the measured loops; larger than the caches
  std::vector<Roof> roofs_;
  std::vector<std::vector<Roof>> samples_;
  std::vector<Clock::time_point> measured_;  ///< when the last sample was
  std::vector<double> most_flops_;
  int looks_ = 0, disturbed_looks_ = 0;
};

/// Vector instructions used for the measurement, e.g. "AVX512".
std::string vector_target();

/// Name of the processor.
std::string processor_name();

}  // namespace bench
