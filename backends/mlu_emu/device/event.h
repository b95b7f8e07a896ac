// One thing an engine of a core did.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/device/clock.h"

namespace mluops::emu {

/// Direction of a copy, seen from the chip.
enum class Direction { kWithin, kLoad, kStore };

/// Times are modelled nanoseconds.
struct Event {
  const char* word;
  Engine engine;
  int task;
  std::int64_t bytes;
  double start, duration;
  double start_cost = 0;   // of the duration, whatever the word's size
  double pieces_cost = 0;  // of the duration, for being in pieces and not in one
  Direction direction = Direction::kWithin;
  std::int64_t pieces = 1;
};

}  // namespace mluops::emu
