// What one core did, and when, by the cost model.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/mlu_emu/device/event.h"
#include "backends/mlu_emu/device/hot_lines.h"
#include "backends/mlu_emu/device/rates.h"
#include "backends/mlu_emu/device/scalar_work.h"
#include "backends/mlu_emu/device/source.h"
#include "backends/mlu_emu/device/what_if.h"

namespace mluops::emu {

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

/// What holds a core though no engine works.
inline constexpr const char *kTaskStart = "start of a task", *kBarrier = "barrier";

/// What a report tells of a core beside its counters.
struct Watched {
  HotLines lines;
  WhatIf what_if;
  std::vector<Touched> operands;  // of the word at hand
};

/// What a core does, word by word, and its time.
class Timeline {
 public:
  void trace(std::size_t most_events) { most_events_ = most_events; }
  /// From now on lines are counted and changes tried; `source` is null where none is known.
  void watch(const Rates& rates, int active_cores, const KernelSource* source);
  /// An operand of the next word; `twice`: there could be a second buffer.
  void touch(const void* address, std::int64_t bytes, bool written, bool twice = true) {
    if (watched != nullptr && bytes > 0) watched->operands.push_back({address, bytes, written, twice});
  }
  void run(const Event& word, bool async);
  void wait(Engine engine);
  double now() const { return clock_.now(); }
  /// The core computes by scalar code for so long.
  void compute(const ScalarWork& work, int task, double duration);
  void begin_task(double duration);
  /// These wait for each other and go on so long after the last.
  static void meet(const std::vector<Timeline*>& cores, double barrier);

  CoreStats stats;
  std::vector<Event> events;
  std::int64_t dropped_events = 0;
  std::unique_ptr<Watched> watched;

 private:
  struct Interval {
    double begin, end;
  };
  void hide_behind(double begin, double end);
  void keep(const Event& event);

  CallSite site() const { return source_ == nullptr ? CallSite{} : source_->where(); }

  Clock clock_;
  const KernelSource* source_ = nullptr;
  CallSite last_site_;  // known to the core's own thread alone
  std::vector<Interval> io_in_flight_;
  std::size_t most_events_ = 0;
};

}  // namespace mluops::emu
