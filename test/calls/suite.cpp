#include "test/calls/suite.h"

namespace mluops::test {
namespace {

std::vector<CallVariant> variants_of(const OperatorCases& op, Cases (*list)()) {
  std::vector<CallVariant> all;
  for (const Case& c : cases_of(op, list)) {
    for (const mluOpDataType_t dtype : float_dtypes()) {
      if (duty("cpu", op.op, dtype) == Duty::kNone) continue;
      all.push_back({c, dtype, false});
      if (op.scatters) all.push_back({c, dtype, true});
    }
  }
  return all;
}

}  // namespace

std::vector<CallVariant> small_calls(const std::string& op) {
  return variants_of(find_operator(op), find_operator(op).smallest);
}

std::vector<CallVariant> large_calls(const std::string& op) {
  return variants_of(find_operator(op), find_operator(op).large);
}

std::unique_ptr<Handle> make_handle(const CallVariant& v, int threads) {
  auto handle =
      std::make_unique<Handle>("cpu", threads, std::vector<std::string>{v.atomic ? "scatter=atomic" : "scatter=owner"});
  handle->contract(MLUOP_EXT_CONTRACT_EXTENDED);
  handle->atomics(v.atomic ? MLUOP_ATOMICS_ALLOWED : MLUOP_ATOMICS_NOT_ALLOWED);
  return handle;
}

std::int64_t working_bytes(const Handle& handle) {
  char text[32] = "";
  EXPECT_EQ(mluOpExtQuery(handle.get(), "cpu", "scratch_bytes", text, sizeof text, nullptr), MLUOP_STATUS_SUCCESS);
  return std::stoll(text);
}

}  // namespace mluops::test
