#include "common/op/three_interpolate.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/three_interpolate.h"

using namespace mluops;

mluOpStatus_t mluOpThreeInterpolateForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc,
                                           const void* features, const mluOpTensorDescriptor_t indices_desc,
                                           const void* indices, const mluOpTensorDescriptor_t weights_desc,
                                           const void* weights, const mluOpTensorDescriptor_t output_desc,
                                           void* output) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsThreeInterpolateForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_three_interpolate_forward({handle,
                                                                   {"features", features_desc, features},
                                                                   {"indices", indices_desc, indices},
                                                                   {"weights", weights_desc, weights},
                                                                   {"output", output_desc, output}},
                                                                  problem));
    return dispatch(*handle, "three_interpolate_forward", problem, &mluopsBackend::three_interpolate_forward);
  });
}

mluOpStatus_t mluOpThreeInterpolateBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                            const void* grad_output, const mluOpTensorDescriptor_t indices_desc,
                                            const void* indices, const mluOpTensorDescriptor_t weights_desc,
                                            const void* weights, const mluOpTensorDescriptor_t grad_features_desc,
                                            void* grad_features) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsThreeInterpolateBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_three_interpolate_backward({handle,
                                              {"grad_output", grad_output_desc, grad_output},
                                              {"indices", indices_desc, indices},
                                              {"weights", weights_desc, weights},
                                              {"grad_features", grad_features_desc, grad_features}},
                                             problem));
    return dispatch(*handle, "three_interpolate_backward", problem, &mluopsBackend::three_interpolate_backward);
  });
}
