// The roof: what this machine moves and computes at best, measured.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// Best figures seen so far at one number of threads. Bytes and flops per second.
struct Roof {
  int threads = 1;
  double read = 0;   ///< plain loads of a buffer larger than the caches
  double fill = 0;   ///< non-temporal stores
  double copy = 0;   ///< loads and non-temporal stores; counts both directions
  double flops = 0;  ///< float32 fused multiply-adds, two flops each

  /// Seconds that a task cannot beat: it must read and write that many bytes and do that many flops.
  double bound(double read_bytes, double write_bytes, double task_flops) const;
  /// Which of the four terms is the largest: "read", "fill", "copy" or "fma".
  const char* limit(double read_bytes, double write_bytes, double task_flops) const;
};

/// Measures again for about `seconds` and keeps the best of old and new.
void measure(Roof& roof, double seconds);

/// The roofs of a run, one per number of threads. Measured several times in the run: the best counts.
class Machine {
 public:
  explicit Machine(const std::vector<int>& threads);

  void refresh(double seconds_each);
  const Roof& at(int threads) const;
  const std::vector<Roof>& roofs() const { return roofs_; }

 private:
  std::vector<Roof> roofs_;
};

/// Vector instructions used for the measurement, e.g. "AVX3".
std::string vector_target();

/// Name of the processor.
std::string processor_name();

}  // namespace bench
