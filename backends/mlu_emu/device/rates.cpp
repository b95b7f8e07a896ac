#include "backends/mlu_emu/device/rates.h"

#include <charconv>
#include <system_error>

namespace mluops::emu {

namespace {

constexpr const char* kFitted = "372: fitted to published times of kernels on a MLU370-X4; the others: assumed alike";
const RateInfo kRateInfos[] = {
    {"gdram_gbps", &Rates::gdram_gbps,
     "peak the vendor's test harness divides by (220, 270, 290, 370); 592: assumed, no published figure verified"},
    {"core_gdram_gbps", &Rates::core_gdram_gbps, kFitted},
    {"clock_ghz", &Rates::clock_ghz, "assumed"},
    {"vector_bytes_cycle", &Rates::vector_bytes_cycle, kFitted},
    {"move_bytes_cycle", &Rates::move_bytes_cycle, kFitted},
    {"memset_gbps", &Rates::memset_gbps, "372: one published time of cnrtMemsetAsync; the others: assumed alike"},
    {"gdram_latency_ns", &Rates::gdram_latency_ns, kFitted},
    {"gdram_segment_ns", &Rates::gdram_segment_ns, kFitted},
    {"move_latency_ns", &Rates::move_latency_ns, kFitted},
    {"move_segment_ns", &Rates::move_segment_ns, kFitted},
    {"vector_latency_cycles", &Rates::vector_latency_cycles, kFitted},
    {"elementary_cost", &Rates::elementary_cost, "assumed"},
    {"convert_cost", &Rates::convert_cost, kFitted},
    {"rearrange_cost", &Rates::rearrange_cost, kFitted},
    {"pool_cost", &Rates::pool_cost, kFitted},
    {"reduce_cost", &Rates::reduce_cost, "assumed"},
    {"tensor_macs_cycle", &Rates::tensor_macs_cycle,
     "372: 96 TFLOPS of half, the board's published peak, on 32 cores; the others: assumed alike"},
    {"tensor_latency_cycles", &Rates::tensor_latency_cycles, kFitted},
    {"scalar_ns", &Rates::scalar_ns, kFitted},
    {"nram_load_ns", &Rates::nram_load_ns, kFitted},
    {"nram_store_ns", &Rates::nram_store_ns, kFitted},
    {"gdram_load_ns", &Rates::gdram_load_ns, kFitted},
    {"gdram_store_ns", &Rates::gdram_store_ns, kFitted},
    {"atomic_ns", &Rates::atomic_ns, "assumed: the start of a DMA"},
    {"barrier_ns", &Rates::barrier_ns, kFitted},
    {"task_ns", &Rates::task_ns, kFitted},
    {"launch_us", &Rates::launch_us, "372: published time of an empty kernel; the others: assumed alike"},
};

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

std::span<const RateInfo> rate_infos() {
  return kRateInfos;
}

TimeSpread time_spread(const Arch& arch) {
  return arch.number == 372 ? TimeSpread{1.2, 2.2} : TimeSpread{};
}

Rates default_rates(const Arch& arch) {
  constexpr double kMostOfACore = 1.07;  // of its equal share
  return {.gdram_gbps = gdram_gbps(arch.number),
          .core_gdram_gbps = kMostOfACore * gdram_gbps(arch.number) / arch.cores(),
          .clock_ghz = 1.0,
          .vector_bytes_cycle = 350,
          .move_bytes_cycle = 128,
          .memset_gbps = 38.6,
          .gdram_latency_ns = 230,
          .gdram_segment_ns = 26,
          .move_latency_ns = 40,
          .move_segment_ns = 0.9,
          .vector_latency_cycles = 70,
          .elementary_cost = 5.5,
          .convert_cost = 3,
          .rearrange_cost = 1.8,
          .pool_cost = 3,
          .reduce_cost = 2.7,
          .tensor_macs_cycle = 1500,
          .tensor_latency_cycles = 90,
          .scalar_ns = 0.65,
          .nram_load_ns = 20,
          .nram_store_ns = 2.2,
          .gdram_load_ns = 215,
          .gdram_store_ns = 78,
          .atomic_ns = 230,
          .barrier_ns = 800,
          .task_ns = 250,
          .launch_us = 1.2};
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
