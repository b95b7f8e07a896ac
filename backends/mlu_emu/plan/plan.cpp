#include "backends/mlu_emu/plan/plan.h"

#include "common/shape.h"

namespace mluops::emu::plan {

bool refuse_large_tensor(Plan& plan, const char* name, std::initializer_list<std::int64_t> dims) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  const auto elements = checked_product(dims);
  if (elements && *elements < kLimit) return false;
  plan.refusal = std::string(name) + " has 2^31 elements or more: the device counts in 32 bits";
  return true;
}

std::string nram_shortage(std::int64_t need, const Machine& machine) {
  return "need " + std::to_string(need) + " bytes of NRAM, a core has " + std::to_string(machine.nram_bytes);
}

}  // namespace mluops::emu::plan
