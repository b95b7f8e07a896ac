#include "common/dtype.h"

namespace mluops {

std::size_t dtype_size(mluOpDataType_t dtype) noexcept {
  switch (dtype) {
    case MLUOP_DTYPE_BOOL:
    case MLUOP_DTYPE_INT8:
    case MLUOP_DTYPE_UINT8:
      return 1;
    case MLUOP_DTYPE_INT16:
    case MLUOP_DTYPE_UINT16:
    case MLUOP_DTYPE_HALF:
    case MLUOP_DTYPE_BFLOAT16:
      return 2;
    case MLUOP_DTYPE_INT31:
    case MLUOP_DTYPE_INT32:
    case MLUOP_DTYPE_UINT32:
    case MLUOP_DTYPE_FLOAT:
    case MLUOP_DTYPE_COMPLEX_HALF:
      return 4;
    case MLUOP_DTYPE_INT64:
    case MLUOP_DTYPE_UINT64:
    case MLUOP_DTYPE_DOUBLE:
    case MLUOP_DTYPE_COMPLEX_FLOAT:
      return 8;
    case MLUOP_DTYPE_INVALID:
      return 0;
  }
  return 0;
}

const char* dtype_name(mluOpDataType_t dtype) noexcept {
  switch (dtype) {
    case MLUOP_DTYPE_HALF:
      return "DTYPE_HALF";
    case MLUOP_DTYPE_FLOAT:
      return "DTYPE_FLOAT";
    case MLUOP_DTYPE_INT8:
      return "DTYPE_INT8";
    case MLUOP_DTYPE_INT16:
      return "DTYPE_INT16";
    case MLUOP_DTYPE_INT31:
      return "DTYPE_INT31";
    case MLUOP_DTYPE_INT32:
      return "DTYPE_INT32";
    case MLUOP_DTYPE_UINT8:
      return "DTYPE_UINT8";
    case MLUOP_DTYPE_BOOL:
      return "DTYPE_BOOL";
    case MLUOP_DTYPE_INT64:
      return "DTYPE_INT64";
    case MLUOP_DTYPE_UINT32:
      return "DTYPE_UINT32";
    case MLUOP_DTYPE_UINT64:
      return "DTYPE_UINT64";
    case MLUOP_DTYPE_UINT16:
      return "DTYPE_UINT16";
    case MLUOP_DTYPE_DOUBLE:
      return "DTYPE_DOUBLE";
    case MLUOP_DTYPE_COMPLEX_HALF:
      return "DTYPE_COMPLEX_HALF";
    case MLUOP_DTYPE_COMPLEX_FLOAT:
      return "DTYPE_COMPLEX_FLOAT";
    case MLUOP_DTYPE_BFLOAT16:
      return "DTYPE_BFLOAT16";
    case MLUOP_DTYPE_INVALID:
      return "DTYPE_INVALID";
  }
  return "DTYPE_INVALID";
}

const char* layout_name(mluOpTensorLayout_t layout) noexcept {
  switch (layout) {
    case MLUOP_LAYOUT_NCHW:
      return "LAYOUT_NCHW";
    case MLUOP_LAYOUT_NHWC:
      return "LAYOUT_NHWC";
    case MLUOP_LAYOUT_HWCN:
      return "LAYOUT_HWCN";
    case MLUOP_LAYOUT_NDHWC:
      return "LAYOUT_NDHWC";
    case MLUOP_LAYOUT_ARRAY:
      return "LAYOUT_ARRAY";
    case MLUOP_LAYOUT_NCDHW:
      return "LAYOUT_NCDHW";
    case MLUOP_LAYOUT_TNC:
      return "LAYOUT_TNC";
    case MLUOP_LAYOUT_NTC:
      return "LAYOUT_NTC";
    case MLUOP_LAYOUT_NC:
      return "LAYOUT_NC";
    case MLUOP_LAYOUT_NLC:
      return "LAYOUT_NLC";
    case MLUOP_LAYOUT_NCL:
      return "LAYOUT_NCL";
  }
  return "LAYOUT_ARRAY";
}

}  // namespace mluops
