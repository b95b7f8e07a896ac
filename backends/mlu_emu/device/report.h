// What the launches of one operator call did, for people who look.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/launch_spec.h"
#include "backends/mlu_emu/device/settings.h"
#include "backends/mlu_emu/device/timeline.h"

namespace mluops::emu {

/// A LineCost of a launch: times, bytes and pieces of all cores; times of the core that took longest.
struct HotLine {
  std::string file;  // "" where it is not known
  int line = 0;
  std::string word;
  Engine engine = Engine::kScalar;
  Direction direction = Direction::kWithin;
  std::int64_t times = 0, bytes = 0, pieces = 0;
  double busy = 0, starts = 0, in_pieces = 0, held = 0;
  ScalarWork scalar = {};  // of all cores
};

struct LaunchReport {
  struct Traffic {
    std::string name;
    std::int64_t bytes = 0, read = 0, written = 0;
    Access access = Access::kRead;
  };
  LaunchSpec spec;  // its tensors are gone: see traffic
  std::vector<Traffic> traffic;
  std::vector<CoreStats> cores;
  std::vector<std::vector<Event>> events;  // by core; empty unless traced
  std::int64_t dropped_events = 0;
  double time = 0;                            // modelled ns, without the launch itself
  std::vector<HotLine> lines;                 // empty unless watched, as what follows
  std::array<double, kChanges> changed = {};  // its time with that Change; 0: it cannot be had
};

struct CallReport {
  std::string op;
  Settings settings;  // in force when it ran
  std::vector<LaunchReport> launches;
};

/// JSON object of a machine: sizes, alignment, rates with their sources.
std::string arch_json(const Settings& settings);
/// JSON object of the call: per launch dims, NRAM map, traffic, work per core; totals and efficiencies.
std::string report_json(const CallReport& report);
/// Chrome trace format, one lane for each engine of each core; "traceEvents" is empty unless the trace was on.
std::string trace_json(const CallReport& report);

}  // namespace mluops::emu
