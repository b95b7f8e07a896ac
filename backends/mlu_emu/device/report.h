// What the launches of one operator call did, for people who look.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/launch_spec.h"
#include "backends/mlu_emu/device/settings.h"
#include "backends/mlu_emu/device/timeline.h"

namespace mluops::emu {

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
  double time = 0;  // modelled ns, without the launch itself
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
