#include "backends/mlu_emu/plan/plan.h"

#include <limits>

#include "common/shape.h"

namespace mluops::emu::plan {

bool refuse_large_tensor(Plan& plan, const char* name, std::initializer_list<std::int64_t> dims) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  const auto elements = checked_product(dims);
  if (elements && *elements < kLimit) return false;
  plan.refusal = std::string(name) + " has 2^31 elements or more: the device counts in 32 bits";
  return true;
}

bool refuse_dtype(Plan& plan, mluOpDataType_t dtype, std::initializer_list<mluOpDataType_t> known) {
  if (std::find(known.begin(), known.end(), dtype) != known.end()) return false;
  plan.refusal = known.size() == 1 ? "dtype must be float" : "dtype must be half or float";
  return true;
}

std::string nram_shortage(std::int64_t need, const Machine& machine) {
  return "need " + std::to_string(need) + " bytes of NRAM, a core has " + std::to_string(machine.nram_bytes);
}

std::string count_samples(std::int64_t bins, std::int64_t grid_h, std::int64_t grid_w, std::int64_t& samples) {
  if (grid_h <= 0 || grid_w <= 0) return {};
  const auto per_bin = checked_product({grid_h, grid_w});
  if (!per_bin || *per_bin > std::numeric_limits<std::int32_t>::max()) {
    return "a bin's sampling grid " + std::to_string(grid_h) + " x " + std::to_string(grid_w) +
           " has more points than 32 bits count";
  }
  const auto all = checked_product({*per_bin, bins});
  if (!all || *all > kMaxSamples - samples) return "more than " + std::to_string(kMaxSamples) + " sample points";
  samples += *all;
  return {};
}

}  // namespace mluops::emu::plan
