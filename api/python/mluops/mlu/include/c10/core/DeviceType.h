// torch's header, with the name that programs written for torch_mlu have for the type of device mlu.
#pragma once

#include_next <c10/core/DeviceType.h>

namespace c10 {
constexpr DeviceType kMLU = DeviceType::PrivateUse1;
}  // namespace c10
