// What mluOpTensorDescriptor_t points to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/dtype.h"
#include "common/status.h"
#include "mlu_op_types.h"

struct mluOpTensorStruct {
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY;
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  mluOpDataType_t onchip_dtype = MLUOP_DTYPE_INVALID;
  mluOpPointerMode_t pointer_mode = MLUOP_POINTER_MODE_DEVICE;
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;  // in elements
  /// Product of dims; 1 for a host scalar, 0 for a fresh descriptor, -1 when it leaves int64.
  std::int64_t elements = 0;
  int position = 0;
  float scale = 1.0f;
  int offset = 0;
};

namespace mluops {

using TensorDesc = mluOpTensorStruct;

int rank(const TensorDesc& t);
/// Dense and row-major? Dimensions of size 1 may have any stride; empty tensors are dense.
bool is_contiguous(const TensorDesc& t);
/// "[2, 25, 38, 256]".
std::string dims_text(const TensorDesc& t);

}  // namespace mluops
