#include "common/op/three_nn.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/three_nn.h"

using namespace mluops;

mluOpStatus_t mluOpGetThreeNNForwardWorkspaceSize(const mluOpHandle_t handle, const mluOpTensorDescriptor_t known_desc,
                                                  size_t* workspace_size) {
  return guard(__func__, [&]() -> Status {
    return op::check_three_nn_workspace(handle, {"known", known_desc, nullptr}, workspace_size);
  });
}

mluOpStatus_t mluOpThreeNNForward(const mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc,
                                  const void* unknown, const mluOpTensorDescriptor_t known_desc, const void* known,
                                  void* workspace, const size_t workspace_size,
                                  const mluOpTensorDescriptor_t dist2_desc, void* dist2,
                                  const mluOpTensorDescriptor_t idx_desc, void* idx) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsThreeNNForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_three_nn_forward({handle,
                                                          {"unknown", unknown_desc, unknown},
                                                          {"known", known_desc, known},
                                                          workspace,
                                                          workspace_size,
                                                          {"dist2", dist2_desc, dist2},
                                                          {"idx", idx_desc, idx}},
                                                         problem));
    return dispatch(*handle, "three_nn_forward", problem, &mluopsBackend::three_nn_forward);
  });
}
