#include "api/c/boundary.h"
#include "common/dtype.h"
#include "common/op/check.h"
#include "mlu_op.h"

using namespace mluops;

const char* mluOpGetErrorString(mluOpStatus_t status) {
  return status_name(status);
}

void mluOpGetLibVersion(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = MLUOP_MAJOR;
  if (minor != nullptr) *minor = MLUOP_MINOR;
  if (patch != nullptr) *patch = MLUOP_PATCHLEVEL;
}

size_t mluOpGetVersion(void) {
  return MLUOP_VERSION;
}

mluOpStatus_t mluOpGetSizeOfDataType(mluOpDataType_t data_type, size_t* size) {
  return guard(__func__, {{"size", size}}, [&]() -> Status {
    if (data_type == MLUOP_DTYPE_INVALID) return Status::bad_param("data_type: wanted a type, got DTYPE_INVALID");
    *size = dtype_size(data_type);
    return Status::go_on();
  });
}

const char* mluOpGetNameOfDataType(mluOpDataType_t dtype) {
  return dtype_name(dtype);
}

const char* mluOpGetNameOfTensorLayout(mluOpTensorLayout_t layout) {
  return layout_name(layout);
}
