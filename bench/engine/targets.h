// Where a case runs: a backend with a number of threads.
#pragma once

#include <memory>
#include <string>

#include "bench/engine/cases.h"

namespace bench {

class Target {
 public:
  /// Throws std::runtime_error with the library's text when the backend cannot be used.
  Target(std::string backend, int threads);

  const std::string& backend() const { return backend_; }
  int threads() const { return threads_; }
  mluOpHandle_t handle() const { return handle_.get(); }

  /// A machine in software: its times say nothing about the machine it imitates, and cases are reduced for it.
  bool emulated() const;
  /// Precision in which the backend computes sample coordinates for this dtype: an emulated device does it in the
  /// tensors' own type, as the device does, a host backend in float.
  Coordinates coordinates(mluOpDataType_t dtype) const;

  /// Sets an option of the backend, e.g. ("scatter", "atomic"). Throws as the constructor.
  void set_option(const char* key, const char* value) const;
  void allow_atomics(bool allowed) const;
  void extended_contract() const;
  /// A property of the backend; "" when it has none of that name.
  std::string query(const char* key) const;
  /// Whether it provides the operator; true where the library, being an older one, does not tell.
  bool has(const std::string& op) const;

 private:
  std::string backend_;
  int threads_;
  std::string operators_;
  std::shared_ptr<mluOpContext> handle_;
};

}  // namespace bench
