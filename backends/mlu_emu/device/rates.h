// The cost model's rates: one table. The source of every number, and what is fitted or assumed, stands beside it in
// rates.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backends/mlu_emu/device/arch.h"

namespace mluops::emu {

struct Rates {
  double gdram_gbps = 0;             // whole board, shared equally by the cores
  double core_gdram_gbps = 0;        // one core at most
  double clock_ghz = 0;              // of a core
  double vector_bytes_cycle = 0;     // results the vector unit writes in a cycle
  double move_bytes_cycle = 0;       // on-chip copies
  double memset_gbps = 0;            // the runtime's fill of device memory
  double gdram_latency_ns = 0;       // start of one DMA from or to GDRAM
  double gdram_segment_ns = 0;       // each further segment of a strided DMA
  double move_latency_ns = 0;        // start of one on-chip copy
  double move_segment_ns = 0;        // each further segment of a strided one
  double vector_latency_cycles = 0;  // start of one vector builtin
  double elementary_cost = 0;        // of functions and quotients, a result of plain words being 1
  double convert_cost = 0;           // of conversions
  double rearrange_cost = 0;         // of transposes, rotations and their like
  double pool_cost = 0;              // of a value of a window
  double reduce_cost = 0;            // of a lane that becomes part of a sum or an extreme
  double tensor_macs_cycle = 0;      // multiply-adds of half in a cycle; float four times as long, int8 half as long
  double tensor_latency_cycles = 0;  // start of one word of the tensor unit
  double scalar_ns = 0;              // one operation of scalar code
  double nram_load_ns = 0, nram_store_ns = 0;    // of a scalar
  double gdram_load_ns = 0, gdram_store_ns = 0;  // of a scalar
  double atomic_ns = 0;                          // start of one atomic
  double barrier_ns = 0;                         // from the last arrival to the first word behind
  double task_ns = 0;                            // start of a task on a core
  double launch_us = 0;                          // one kernel launch
};

Rates default_rates(const Arch& arch);

/// Applies "key=value,key=value" with the member names as keys; returns what is wrong, "" if nothing.
std::string override_rates(Rates& rates, std::string_view text);

/// Factors that modelled times of kernels were held against published ones with, on kernels no rate was fitted to: half
/// lie within `half`, nine of ten within `most`. 0 where no times are published.
struct TimeSpread {
  double half = 0, most = 0;
};
TimeSpread time_spread(const Arch& arch);

/// name, member and source of every rate, for reports and documentation.
struct RateInfo {
  const char* name;
  double Rates::*member;
  const char* source;
};
std::span<const RateInfo> rate_infos();

}  // namespace mluops::emu
