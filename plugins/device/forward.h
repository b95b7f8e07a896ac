// mluOp's C functions as the descriptions of test/cases call them: functions.cpp and base_functions.cpp define them for
// this plugin alone, and each hands its arguments to the vendor's function of the same name.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "mlu_op_types.h"
#include "plugins/device/library.h"

namespace mluops::device {

/// The call that the thread is in. Memory that functions are given lives until the queue is done with them.
class Scope {
 public:
  explicit Scope(const Library& library);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

  /// The scope of the thread, which has one.
  static Scope& current();
  /// The vendor's function; nullptr where the library has none, which the scope remembers.
  void* find(const char* function);
  /// Name of a function that was called and is missing; "" for none.
  const std::string& lacking() const { return lacking_; }
  void* workspace(std::size_t bytes);

 private:
  const Library& library_;
  std::string lacking_;
  std::vector<DeviceMemory> workspaces_;
};

/// Calls the vendor's function of a name: its type is that of ours.
template <class Result, class... Parameters>
Result forward(Result (*)(Parameters...), const char* name, std::type_identity_t<Parameters>... arguments) {
  const auto function = reinterpret_cast<Result (*)(Parameters...)>(Scope::current().find(name));
  if (function != nullptr) return function(arguments...);
  if constexpr (std::is_same_v<Result, mluOpStatus_t>) {
    return MLUOP_STATUS_NOT_SUPPORTED;
  } else {
    return Result{};
  }
}
#define MLUOPS_FORWARD(function, ...) mluops::device::forward(&function, #function, __VA_ARGS__)

/// run() with a workspace of the size that size_of(&bytes) tells, where the caller gave none.
template <class SizeOf, class Run>
mluOpStatus_t with_workspace(void*& workspace, std::size_t& bytes, SizeOf&& size_of, Run&& run) {
  if (workspace == nullptr) {
    const mluOpStatus_t status = size_of(&bytes);
    if (status != MLUOP_STATUS_SUCCESS) return status;
    if (bytes > 0) workspace = Scope::current().workspace(bytes);
  }
  return run();
}

}  // namespace mluops::device
