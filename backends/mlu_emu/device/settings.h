// What a handle may choose about its machine: from the environment when it is created, by options afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/mlu_emu/device/arch.h"
#include "backends/mlu_emu/device/rates.h"

namespace mluops::emu {

struct Checks {
  bool memory = true;   // bounds, alignment, capacity
  bool init = true;     // reads of NRAM nobody wrote
  bool race = true;     // two tasks writing the same GDRAM bytes without an atomic
  bool overlap = true;  // buffers of copies not yet waited for
};

enum class Order { kSerial, kShuffled, kParallel };

struct Settings {
  Arch arch = *find_arch(kDefaultArch);
  Checks checks;
  Order order = Order::kSerial;  // of tasks: increasing taskId, a seeded permutation, or cores on threads
  std::uint64_t seed = 0;
  std::int64_t trace_events = 0;  // of a launch, over all cores; 0: no trace
  // So that a kernel which loops for ever ends; 0: no limit.
  std::int64_t word_limit = 0;     // words a task may use
  std::int64_t seconds_limit = 0;  // of the host a launch may take
  Rates rates = default_rates(arch);

  /// Sets one option ("arch", "device", "nram_bytes", "clusters", "cores_per_cluster", "check", "order", "trace",
  /// "limit", "rates"); returns what is wrong, "" if nothing (and then only is anything changed). "arch" and "device"
  /// take the whole preset.
  /// docs/device_model.md lists the values.
  std::string set(std::string_view key, const std::string& value);

  /// Reads MLUOP_EMU_ARCH, _DEVICE, _NRAM_BYTES, _CLUSTERS, _CORES_PER_CLUSTER, _CHECK, _ORDER, _TRACE, _LIMIT, _RATES.
  /// All but the one for the option `ignored`.
  std::string read_environment(std::string_view ignored = {});
};

}  // namespace mluops::emu
