// Sizes and names of element types and layouts.
#pragma once

#include <cstddef>

#include "mlu_op_types.h"

namespace mluops {

/// Bytes of one element; 0 for INVALID and unknown values.
std::size_t dtype_size(mluOpDataType_t dtype) noexcept;
/// "DTYPE_FLOAT"; "DTYPE_INVALID" for unknown values.
const char* dtype_name(mluOpDataType_t dtype) noexcept;
/// "LAYOUT_NHWC"; "LAYOUT_ARRAY" for unknown values.
const char* layout_name(mluOpTensorLayout_t layout) noexcept;

}  // namespace mluops
