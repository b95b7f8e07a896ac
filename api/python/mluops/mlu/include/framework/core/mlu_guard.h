// Guards of device and stream, as extensions of torch_mlu use them.
#pragma once

#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>

#include "framework/core/MLUStream.h"

namespace torch_mlu {
namespace mlu {

using MLUGuard = c10::DeviceGuard;
using OptionalMLUGuard = c10::OptionalDeviceGuard;

class MLUStreamGuard {
 public:
  explicit MLUStreamGuard(c10::Stream stream) : guard_(stream) {}
  MLUStream current_stream() const { return MLUStream(guard_.current_stream()); }

 private:
  c10::StreamGuard guard_;
};

}  // namespace mlu
}  // namespace torch_mlu
