// Calls of operators, handed to the vendor's library: tensors are copied to the card and outputs back.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "mluops/backend_types.h"
#include "plugins/device/forward.h"
#include "test/cases/operator.h"

namespace mluops::device {

/// A tensor of a problem: its name in the C function, and the host's memory.
struct HostTensor {
  const char* name;
  const void* data;
};
using HostTensors = std::initializer_list<HostTensor>;

/// A handle of the vendor's library with its queue.
class Context {
 public:
  /// Throws std::runtime_error where the library, the runtime or the card cannot be used.
  Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  /// The problem as a case (common/case_text.h). The vendor's status, of which none but SUCCESS has written anything;
  /// `reason` says what happened.
  mluOpStatus_t run(const mluopsCall& call, const std::string& text, HostTensors tensors, std::string& reason);

  const Library& library() const { return library_; }

 private:
  /// A description with the vendor's descriptors of its tensors.
  class Prepared;

  /// Throws std::exception where it is no case that the library can be asked about.
  Prepared& prepared(const std::string& text);
  mluOpStatus_t run_on_card(Prepared& p, HostTensors tensors, std::string& reason);

  const Library& library_;
  void* queue_ = nullptr;
  mluOpHandle_t handle_ = nullptr;
  std::unordered_map<std::string, std::unique_ptr<Prepared>> prepared_;
};

}  // namespace mluops::device
