// A library of mluOp as the vendor's: some operators, whose results nobody else computes, on memory of fake_runtime.cpp
// alone. Its structs are its own, so a call that went to another library of mluOp would not pass. FAKE_MINOR: of its
// version.
#include <cstdlib>
#include <cstring>

#include "mlu_op.h"
#include "test/plugin_device/fake.h"

struct mluOpContext {
  cnrtQueue_t queue;
  char mark[16];
};
struct mluOpTensorStruct {
  char mark[16];
  int elements;
};

extern "C" bool fake_card_owns(const void* data);

namespace {

constexpr const char* kMark = "the fake one";

bool is_mine(mluOpHandle_t handle) {
  return handle != nullptr && handle->queue != nullptr && std::strcmp(handle->mark, kMark) == 0;
}

bool is_tensor(mluOpTensorDescriptor_t desc, const void* data) {
  return desc != nullptr && std::strcmp(desc->mark, kMark) == 0 && fake_card_owns(data);
}

template <class Number>
void fill(mluOpTensorDescriptor_t desc, void* data, Number value) {
  for (int i = 0; i < desc->elements; ++i) static_cast<Number*>(data)[i] = value;
}

constexpr std::size_t kWorkspace = 48;

}  // namespace

extern "C" {

void mluOpGetLibVersion(int* major, int* minor, int* patch) {
  *major = 1, *minor = FAKE_MINOR, *patch = 7;
}

const char* mluOpGetErrorString(mluOpStatus_t) {
  return "of the fake library";
}

mluOpStatus_t mluOpGetSizeOfDataType(mluOpDataType_t, size_t* size) {
  *size = 4;  // of FLOAT and INT32
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpCreate(mluOpHandle_t* handle) {
  *handle = static_cast<mluOpHandle_t>(std::calloc(1, sizeof(mluOpContext)));
  std::strcpy((*handle)->mark, kMark);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpDestroy(mluOpHandle_t handle) {
  if (!is_mine(handle)) std::abort();
  std::free(handle);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpSetQueue(mluOpHandle_t handle, cnrtQueue_t queue) {
  handle->queue = queue;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpSetAtomicsMode(mluOpHandle_t handle, mluOpAtomicsMode_t) {
  return is_mine(handle) ? MLUOP_STATUS_SUCCESS : MLUOP_STATUS_BAD_PARAM;
}

mluOpStatus_t mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t* desc) {
  *desc = static_cast<mluOpTensorDescriptor_t>(std::calloc(1, sizeof(mluOpTensorStruct)));
  std::strcpy((*desc)->mark, kMark);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpSetTensorDescriptor(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t, mluOpDataType_t, int dims,
                                       const int sizes[]) {
  desc->elements = 1;
  for (int i = 0; i < dims; ++i) desc->elements *= sizes[i];
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc) {
  std::free(desc);
  return MLUOP_STATUS_SUCCESS;
}

// The library calls its own functions by their public names. The loader must find those of this file, not those of the
// library that loaded it.
mluOpStatus_t mluOpPsamaskForward(mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t x_desc,
                                  const void* x, const int, const int, const mluOpTensorDescriptor_t y_desc, void* y) {
  mluOpTensorDescriptor_t own = nullptr;
  mluOpCreateTensorDescriptor(&own);
  const bool good = is_mine(handle) && is_tensor(own, x) && is_tensor(x_desc, x) && is_tensor(y_desc, y);
  mluOpDestroyTensorDescriptor(own);
  if (!good) return MLUOP_STATUS_INTERNAL_ERROR;
  fill(y_desc, y, fake::kPsamask);
  return psa_type == 0 ? MLUOP_STATUS_SUCCESS : MLUOP_STATUS_BAD_PARAM;  // what it does not support is bad to it
}

mluOpStatus_t mluOpBallQuery(mluOpHandle_t, const mluOpTensorDescriptor_t, const void*, const mluOpTensorDescriptor_t,
                             const void*, const float, const float, const int, const mluOpTensorDescriptor_t idx_desc,
                             void* idx) {
  fill(idx_desc, idx, -77);
  return MLUOP_STATUS_NOT_SUPPORTED;
}

mluOpStatus_t mluOpGetThreeNNForwardWorkspaceSize(const mluOpHandle_t, const mluOpTensorDescriptor_t, size_t* bytes) {
  *bytes = kWorkspace;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpThreeNNForward(const mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc,
                                  const void* unknown, const mluOpTensorDescriptor_t known_desc, const void* known,
                                  void* workspace, const size_t workspace_size,
                                  const mluOpTensorDescriptor_t dist2_desc, void* dist2,
                                  const mluOpTensorDescriptor_t idx_desc, void* idx) {
  if (!is_mine(handle) || workspace_size != kWorkspace || !fake_card_owns(workspace)) return MLUOP_STATUS_BAD_PARAM;
  if (!is_tensor(unknown_desc, unknown) || !is_tensor(known_desc, known)) return MLUOP_STATUS_BAD_PARAM;
  fill(dist2_desc, dist2, fake::kDistance);
  fill(idx_desc, idx, fake::kIndex);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpRoiCropForward(mluOpHandle_t, const mluOpTensorDescriptor_t, const void*,
                                  const mluOpTensorDescriptor_t, const void*, const mluOpTensorDescriptor_t output_desc,
                                  void* output) {
  fill(output_desc, output, fake::kPsamask);
  return MLUOP_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
