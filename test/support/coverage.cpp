#include "test/support/coverage.h"

#include <algorithm>

namespace mluops::test {
namespace {

bool contains(const std::vector<mluOpDataType_t>& list, mluOpDataType_t dtype) {
  return std::find(list.begin(), list.end(), dtype) != list.end();
}

bool is_emulated(const std::string& op) {
  static const std::vector<std::string> emulated = {
#define MLUOPS_EMULATED(name, Problem) #name,
#include "backends/mlu_emu/kernels/kernels.inc"
  };
  return std::find(emulated.begin(), emulated.end(), op) != emulated.end();
}

}  // namespace

Duty duty(const std::string& backend, const std::string& op, mluOpDataType_t dtype) {
  if (backend == "mlu_emu" && !is_emulated(op)) return Duty::kNone;
  const Dtypes& dtypes = find_operator(op).dtypes;
  if (contains(dtypes.strict, dtype)) return Duty::kStrict;
  return backend == "cpu" && contains(dtypes.extended, dtype) ? Duty::kExtended : Duty::kNone;
}

const std::vector<mluOpDataType_t>& float_dtypes() {
  static const std::vector<mluOpDataType_t> dtypes = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_DOUBLE,
                                                      MLUOP_DTYPE_BFLOAT16};
  return dtypes;
}

mluOpExtContract_t contract_for(Duty duty) {
  return duty == Duty::kExtended ? MLUOP_EXT_CONTRACT_EXTENDED : MLUOP_EXT_CONTRACT_STRICT;
}

std::vector<int> thread_counts(const std::string& backend) {
  if (backend == "mlu_emu") return {1, 3};  // a core is simulated by one thread whatever the number
  return {1, 2, 3, 8};
}

}  // namespace mluops::test
