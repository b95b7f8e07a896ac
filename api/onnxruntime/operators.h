// The custom operators this library gives to onnxruntime.
#pragma once

#include <vector>

#include "api/onnxruntime/abi.h"

namespace mluops::ort {

/// One for each operator and element type. They live as long as the process.
const std::vector<CustomOperator>& operators();

}  // namespace mluops::ort
