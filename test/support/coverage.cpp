#include "test/support/coverage.h"

#include <algorithm>

namespace mluops::test {
namespace {

struct Entry {
  std::string backend, op;
};

// Operators a backend does not provide yet.
const std::vector<Entry>& missing() {
  static const std::vector<Entry> entries = {};
  return entries;
}

bool is_missing(const std::string& backend, const std::string& op) {
  return std::any_of(missing().begin(), missing().end(),
                     [&](const Entry& e) { return e.backend == backend && e.op == op; });
}

}  // namespace

Duty duty(const std::string& backend, const std::string& op, mluOpDataType_t dtype) {
  const bool wide = dtype == MLUOP_DTYPE_DOUBLE || dtype == MLUOP_DTYPE_BFLOAT16;
  const bool psamask = op.rfind("psamask", 0) == 0;
  const bool strict = !wide && !(psamask && dtype != MLUOP_DTYPE_FLOAT);
  if (!strict && backend != "cpu") return Duty::kNone;
  if (is_missing(backend, op)) return Duty::kMissing;
  return strict ? Duty::kStrict : Duty::kExtended;
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
