#include "backends/mlu_emu/device/rates.h"

#include <charconv>
#include <system_error>

namespace mluops::emu {

const RateInfo kRateInfos[10] = {
    {"gdram_gbps", &Rates::gdram_gbps,
     "peak the vendor's test harness divides by (220, 270, 290, 370); 592: assumed, no published figure verified"},
    {"clock_ghz", &Rates::clock_ghz, "assumed"},
    {"vector_bytes_cycle", &Rates::vector_bytes_cycle, "assumed: one 128-byte line, the vector unit's alignment"},
    {"move_bytes_cycle", &Rates::move_bytes_cycle, "assumed: half a line"},
    {"gdram_latency_ns", &Rates::gdram_latency_ns, "assumed"},
    {"gdram_segment_ns", &Rates::gdram_segment_ns, "assumed"},
    {"move_latency_ns", &Rates::move_latency_ns, "assumed"},
    {"vector_latency_cycles", &Rates::vector_latency_cycles, "assumed"},
    {"tensor_macs_cycle", &Rates::tensor_macs_cycle,
     "372: 96 TFLOPS of half, the board's published peak, on 32 cores; the others: assumed alike"},
    {"launch_us", &Rates::launch_us, "assumed"},
};

namespace {

double gdram_gbps(int arch_number) {
  switch (arch_number) {
    case 220:
      return 25.6;
    case 270:
      return 102.4;
    case 290:
      return 1024.0;
    case 372:
      return 307.2;
    default:
      return 1024.0;
  }
}

bool set_rate(Rates& rates, std::string_view name, double value) {
  for (const RateInfo& info : kRateInfos) {
    if (name != info.name) continue;
    rates.*info.member = value;
    return true;
  }
  return false;
}

/// Far beyond any device, and far from where times overflow or lose their digits.
constexpr double kLeastRate = 1e-6, kMostRate = 1e9;

bool rate_number(const std::string& text, double& value) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);  // the same in every locale
  return read.ec == std::errc() && read.ptr == end && value >= kLeastRate && value <= kMostRate;
}

}  // namespace

Rates default_rates(const Arch& arch) {
  return {.gdram_gbps = gdram_gbps(arch.number),
          .clock_ghz = 1.0,
          .vector_bytes_cycle = 128,
          .move_bytes_cycle = 64,
          .gdram_latency_ns = 400,
          .gdram_segment_ns = 8,
          .move_latency_ns = 30,
          .vector_latency_cycles = 16,
          .tensor_macs_cycle = 1500,
          .launch_us = 5};
}

std::string override_rates(Rates& rates, std::string_view text) {
  Rates changed = rates;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string entry(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const std::size_t equals = entry.find('=');
    double value = 0;
    if (equals == std::string::npos || !rate_number(entry.substr(equals + 1), value)) {
      return "wanted name=number in [1e-6, 1e9], got \"" + entry + "\"";
    }
    if (!set_rate(changed, entry.substr(0, equals), value)) {
      return "unknown rate \"" + entry.substr(0, equals) + "\"";
    }
  }
  rates = changed;
  return {};
}

}  // namespace mluops::emu
