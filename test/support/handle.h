// A handle bound to one backend.
#pragma once

#include <string>
#include <vector>

#include "mlu_op_ext.h"

namespace mluops::test {

/// Names of all backends the registry lists.
std::vector<std::string> backend_names();

/// Options are "key=value" for mluOpExtSetOption. Throws std::runtime_error with the library's text on failure.
class Handle {
 public:
  explicit Handle(const std::string& backend, int threads = 1, const std::vector<std::string>& options = {});
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();

  Handle& contract(mluOpExtContract_t contract);
  Handle& atomics(mluOpAtomicsMode_t mode);
  mluOpHandle_t get() const { return handle_; }
  /// Backend of the last successful operator.
  std::string last_run_backend() const;

 private:
  Handle();
  mluOpHandle_t handle_ = nullptr;
};

/// The instruction-set levels of backend cpu that this machine and this build have, the lowest first.
std::vector<std::string> cpu_levels();

}  // namespace mluops::test
