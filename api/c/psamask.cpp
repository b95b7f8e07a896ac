#include "common/op/psamask.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/psamask.h"

using namespace mluops;

mluOpStatus_t mluOpPsamaskForward(mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t x_desc,
                                  const void* x, const int h_mask, const int w_mask,
                                  const mluOpTensorDescriptor_t y_desc, void* y) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsPsamaskForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_psamask_forward({handle, psa_type, {"x", x_desc, x}, h_mask, w_mask, {"y", y_desc, y}}, problem));
    return dispatch(*handle, "psamask_forward", problem, &mluopsBackend::psamask_forward);
  });
}

mluOpStatus_t mluOpPsamaskBackward(mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t dy_desc,
                                   const void* dy, const int h_mask, const int w_mask,
                                   const mluOpTensorDescriptor_t dx_desc, void* dx) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsPsamaskBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_psamask_backward(
        {handle, psa_type, {"dy", dy_desc, dy}, h_mask, w_mask, {"dx", dx_desc, dx}}, problem));
    return dispatch(*handle, "psamask_backward", problem, &mluopsBackend::psamask_backward);
  });
}
