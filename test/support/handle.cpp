#include "test/support/handle.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace mluops::test {
namespace {

void require(mluOpStatus_t status, const std::string& what) {
  if (status == MLUOP_STATUS_SUCCESS) return;
  throw std::runtime_error(what + ": " + mluOpGetErrorString(status) + ": " + mluOpExtGetLastErrorText());
}

}  // namespace

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (int i = 0; i < mluOpExtGetBackendCount(); ++i) names.emplace_back(mluOpExtGetBackendName(i));
  return names;
}

Handle::Handle() {
  require(mluOpCreate(&handle_), "mluOpCreate");
}

Handle::Handle(const std::string& backend, int threads, const std::vector<std::string>& options) : Handle() {
  require(mluOpExtSetBackend(handle_, backend.c_str()), "backend " + backend);
  require(mluOpExtSetNumThreads(handle_, threads), "threads");
  for (const std::string& option : options) {
    const std::size_t equals = option.find('=');
    require(mluOpExtSetOption(handle_, backend.c_str(), option.substr(0, equals).c_str(),
                              option.substr(equals + 1).c_str()),
            "option " + option);
  }
}

Handle::~Handle() {
  mluOpDestroy(handle_);
}

Handle& Handle::contract(mluOpExtContract_t contract) {
  require(mluOpExtSetContract(handle_, contract), "contract");
  return *this;
}

Handle& Handle::atomics(mluOpAtomicsMode_t mode) {
  require(mluOpSetAtomicsMode(handle_, mode), "atomics mode");
  return *this;
}

std::string Handle::last_run_backend() const {
  const char* name = "";
  require(mluOpExtGetLastRunBackend(handle_, &name), "last run backend");
  return name;
}

std::vector<std::string> cpu_levels() {
  std::vector<std::string> usable;
  for (const char* level : {"neon", "sse2", "sse4", "avx2", "avx512"}) {
    const Handle handle("cpu");
    char name[32] = "";
    if (mluOpExtSetOption(handle.get(), "cpu", "isa", level) != MLUOP_STATUS_SUCCESS) continue;
    mluOpExtQuery(handle.get(), "cpu", "isa", name, sizeof name, nullptr);
    std::transform(name, name + sizeof name, name, [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name == std::string(level)) usable.emplace_back(level);  // a level it lacks is the one below
  }
  return usable;
}

}  // namespace mluops::test
