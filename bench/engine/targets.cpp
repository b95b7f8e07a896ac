#include "bench/engine/targets.h"

#include <stdexcept>

#include "mlu_op_ext.h"

namespace bench {
namespace {

void demand(mluOpStatus_t status) {
  if (status != MLUOP_STATUS_SUCCESS) throw std::runtime_error(mluOpExtGetLastErrorText());
}

}  // namespace

Target::Target(std::string backend, int threads) : backend_(std::move(backend)), threads_(threads) {
  mluOpHandle_t handle = nullptr;
  demand(mluOpCreate(&handle));
  handle_ = {handle, [](mluOpHandle_t made) { mluOpDestroy(made); }};
  demand(mluOpExtSetBackend(handle, backend_.c_str()));
  demand(mluOpExtSetNumThreads(handle, threads));
  operators_ = query("operators");
}

bool Target::emulated() const {
  return backend_.ends_with("_emu");
}

Coordinates Target::coordinates(mluOpDataType_t dtype) const {
  return emulated() && dtype == MLUOP_DTYPE_HALF ? Coordinates::kHalf : Coordinates::kFloat;
}

void Target::set_option(const char* key, const char* value) const {
  demand(mluOpExtSetOption(handle(), backend_.c_str(), key, value));
}

void Target::allow_atomics(bool allowed) const {
  demand(mluOpSetAtomicsMode(handle(), allowed ? MLUOP_ATOMICS_ALLOWED : MLUOP_ATOMICS_NOT_ALLOWED));
}

void Target::extended_contract() const {
  demand(mluOpExtSetContract(handle(), MLUOP_EXT_CONTRACT_EXTENDED));
}

std::string Target::query(const char* key) const {
  std::size_t length = 0;
  if (mluOpExtQuery(handle(), backend_.c_str(), key, nullptr, 0, &length) != MLUOP_STATUS_SUCCESS) return "";
  std::string text(length, '\0');
  demand(mluOpExtQuery(handle(), backend_.c_str(), key, text.data(), length + 1, nullptr));
  return text;
}

bool Target::has(const std::string& op) const {
  return operators_.empty() || (" " + operators_ + " ").find(" " + op + " ") != std::string::npos;
}

}  // namespace bench
