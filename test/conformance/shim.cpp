// A library in front of this one, as mluops_conformance --library meets them: with a runtime whose memory is its own,
// and three operators spoiled.
#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>

#include "mlu_op.h"

namespace {

/// The function behind this one.
template <class Function>
Function* behind(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define BEHIND(function) behind(static_cast<decltype(function)*>(nullptr), #function)

extern "C" {

bool shim_owns(const void* data);  // shim_runtime.cpp

// One element is another.
mluOpStatus_t mluOpPsamaskForward(mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t x_desc,
                                  const void* x, const int h_mask, const int w_mask,
                                  const mluOpTensorDescriptor_t y_desc, void* y) {
  const mluOpStatus_t status = BEHIND(mluOpPsamaskForward)(handle, psa_type, x_desc, x, h_mask, w_mask, y_desc, y);
  if (status == MLUOP_STATUS_SUCCESS) static_cast<unsigned char*>(y)[0] ^= 1;
  return status;
}

// A refusal has another status.
mluOpStatus_t mluOpBallQuery(mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc, const void* new_xyz,
                             const mluOpTensorDescriptor_t xyz_desc, const void* xyz, const float min_radius,
                             const float max_radius, const int nsample, const mluOpTensorDescriptor_t idx_desc,
                             void* idx) {
  const mluOpStatus_t status = BEHIND(mluOpBallQuery)(handle, new_xyz_desc, new_xyz, xyz_desc, xyz, min_radius,
                                                      max_radius, nsample, idx_desc, idx);
  return status == MLUOP_STATUS_BAD_PARAM ? MLUOP_STATUS_NUMERICAL_OVERFLOW : status;
}

// The second call ends the process.
mluOpStatus_t mluOpExtKnn(mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz_desc, const void* xyz,
                          const mluOpTensorDescriptor_t new_xyz_desc, const void* new_xyz, const int k,
                          const mluOpTensorDescriptor_t idx_desc, void* idx, const mluOpTensorDescriptor_t dist2_desc,
                          void* dist2) {
  static int calls = 0;
  if (++calls == 2) std::_Exit(1);
  return BEHIND(mluOpExtKnn)(handle, xyz_desc, xyz, new_xyz_desc, new_xyz, k, idx_desc, idx, dist2_desc, dist2);
}

// Wants tensors in memory of the runtime.
mluOpStatus_t mluOpExtGatherPoints(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void* points,
                                   const mluOpTensorDescriptor_t idx_desc, const void* idx,
                                   const mluOpTensorDescriptor_t output_desc, void* output) {
  for (const void* data : {points, idx, static_cast<const void*>(output)}) {
    if (data != nullptr && !shim_owns(data)) return MLUOP_STATUS_EXECUTION_FAILED;
  }
  return BEHIND(mluOpExtGatherPoints)(handle, points_desc, points, idx_desc, idx, output_desc, output);
}

}  // extern "C"
