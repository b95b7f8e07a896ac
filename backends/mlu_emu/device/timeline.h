// What one core did, and when, by the cost model.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "backends/mlu_emu/device/rates.h"
#include "backends/mlu_emu/device/scalar_work.h"

namespace mluops::emu {

enum class Engine { kIo, kMove, kVector, kScalar };
inline constexpr int kEngines = 4;
inline constexpr const char* kEngineNames[kEngines] = {"IO-DMA", "Move-DMA", "vector", "scalar"};

/// Counters of one core over a launch. Times are modelled nanoseconds.
struct CoreStats {
  std::int64_t tasks = 0;
  std::int64_t loads = 0, stores = 0, segments = 0;  // DMAs from and to GDRAM, their pieces
  std::int64_t atomics = 0, atomic_bytes = 0;
  std::int64_t moves = 0, move_bytes = 0;
  std::int64_t vector_words = 0, vector_bytes = 0, vector_lanes = 0;  // bytes: of results
  std::int64_t vector_steps = 0;                                      // lanes the vector unit went over
  double macs = 0;                                                    // of the tensor unit, in those of half
  ScalarWork scalar;
  bool memory_core = false;
  std::vector<std::int64_t> read, written;  // GDRAM bytes by tensor
  std::array<double, kEngines> busy = {};
  double hidden_io = 0;  // IO time during which the vector or Move-DMA engine worked too
  double time = 0;       // when the core was done
};

/// One thing an engine did; for the trace.
struct Event {
  const char* word;
  Engine engine;
  int task;
  std::int64_t bytes;
  double start, duration;
};

/// A core's clock: words issue in order; a synchronous one ends before the next starts, an async copy only occupies
/// its engine until somebody waits.
class Timeline {
 public:
  void trace(std::size_t most_events) { most_events_ = most_events; }
  void run(const Event& word, bool async);
  void wait(Engine engine);
  double now() const { return now_; }
  /// The core computes by scalar code for so long.
  void compute(const ScalarWork& work, int task, double duration);
  /// Nothing happens on this core before.
  void sleep_until(double time) { now_ = std::max(now_, time); }

  CoreStats stats;
  std::vector<Event> events;
  std::int64_t dropped_events = 0;

 private:
  struct Interval {
    double begin, end;
  };
  void hide_behind(double begin, double end);

  double now_ = 0;
  std::array<double, kEngines> free_ = {};
  std::vector<Interval> io_in_flight_;
  std::size_t most_events_ = 0;
};

}  // namespace mluops::emu
