// The cost model's rates: one table. Every number is an assumption; its source stands beside it in rates.cpp.
#pragma once

#include <string>
#include <string_view>

#include "backends/mlu_emu/device/arch.h"

namespace mluops::emu {

struct Rates {
  double gdram_gbps = 0;             // whole board, shared equally by the cores
  double clock_ghz = 0;              // of a core
  double vector_bytes_cycle = 0;     // results the vector unit writes in a cycle
  double move_bytes_cycle = 0;       // on-chip copies
  double gdram_latency_ns = 0;       // start of one DMA from or to GDRAM
  double gdram_segment_ns = 0;       // each further segment of a strided DMA
  double move_latency_ns = 0;        // start of one on-chip copy
  double vector_latency_cycles = 0;  // start of one vector word
  double tensor_macs_cycle = 0;      // multiply-adds of half in a cycle; float four times as long, int8 half as long
  double launch_us = 0;              // one kernel launch
};

Rates default_rates(const Arch& arch);

/// Applies "key=value,key=value" with the member names as keys; returns what is wrong, "" if nothing.
std::string override_rates(Rates& rates, std::string_view text);

/// name, member and source of every rate, for reports and documentation.
struct RateInfo {
  const char* name;
  double Rates::*member;
  const char* source;
};
extern const RateInfo kRateInfos[10];

}  // namespace mluops::emu
