// The clocks of one core: its own, and that of each engine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace mluops::emu {

enum class Engine { kIo, kMove, kVector, kScalar };
inline constexpr int kEngines = 4;
inline constexpr const char* kEngineNames[kEngines] = {"IO-DMA", "Move-DMA", "vector", "scalar"};

/// Words issue in order; a synchronous one ends before the next starts, an async copy only occupies its engine until
/// somebody waits.
class Clock {
 public:
  double now() const { return now_; }
  double free(Engine engine) const { return free_[static_cast<std::size_t>(engine)]; }
  /// When it starts.
  double run(Engine engine, double duration, bool async) {
    const double start = std::max(now_, free(engine)), end = start + duration;
    free_[static_cast<std::size_t>(engine)] = end;
    if (!async) now_ = end;
    return start;
  }
  void wait(Engine engine) { sleep_until(free(engine)); }
  /// Nothing happens on this core before.
  void sleep_until(double time) { now_ = std::max(now_, time); }

 private:
  double now_ = 0;
  std::array<double, kEngines> free_ = {};
};

}  // namespace mluops::emu
