#include "common/op/focal_loss.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/focal_loss.h"

using namespace mluops;

mluOpStatus_t mluOpFocalLossSigmoidForward(mluOpHandle_t handle, const mluOpComputationPreference_t prefer,
                                           const mluOpLossReduction_t reduction,
                                           const mluOpTensorDescriptor_t input_desc, const void* input,
                                           const mluOpTensorDescriptor_t target_desc, const void* target,
                                           const mluOpTensorDescriptor_t weight_desc, const void* weight,
                                           const float alpha, const float gamma,
                                           const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(__func__, handle, {{"alpha", alpha}, {"gamma", gamma}}, [&](const auto& scalars) -> Status {
    mluopsFocalLossProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_focal_loss_sigmoid_forward({handle,
                                                                    {"input", input_desc, input},
                                                                    {"target", target_desc, target},
                                                                    {"weight", weight_desc, weight},
                                                                    scalars[0],
                                                                    scalars[1],
                                                                    {"output", output_desc, output}},
                                                                   {prefer, reduction}, problem));
    return dispatch(*handle, "focal_loss_sigmoid_forward", problem, &mluopsBackend::focal_loss_sigmoid_forward);
  });
}

mluOpStatus_t mluOpFocalLossSigmoidBackward(mluOpHandle_t handle, const mluOpComputationPreference_t prefer,
                                            const mluOpLossReduction_t reduction,
                                            const mluOpTensorDescriptor_t input_desc, const void* input,
                                            const mluOpTensorDescriptor_t target_desc, const void* target,
                                            const mluOpTensorDescriptor_t weight_desc, const void* weight,
                                            const float alpha, const float gamma,
                                            const mluOpTensorDescriptor_t grad_input_desc, void* grad_input) {
  return guard_operator(__func__, handle, {{"alpha", alpha}, {"gamma", gamma}}, [&](const auto& scalars) -> Status {
    mluopsFocalLossProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_focal_loss_sigmoid_backward({handle,
                                                                     {"input", input_desc, input},
                                                                     {"target", target_desc, target},
                                                                     {"weight", weight_desc, weight},
                                                                     scalars[0],
                                                                     scalars[1],
                                                                     {"grad_input", grad_input_desc, grad_input}},
                                                                    {prefer, reduction}, problem));
    return dispatch(*handle, "focal_loss_sigmoid_backward", problem, &mluopsBackend::focal_loss_sigmoid_backward);
  });
}

mluOpStatus_t mluOpExtFocalLossSoftmaxForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t softmax_desc,
                                              const void* softmax, const mluOpTensorDescriptor_t target_desc,
                                              const void* target, const mluOpTensorDescriptor_t weight_desc,
                                              const void* weight, const float alpha, const float gamma,
                                              const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(__func__, handle, {{"alpha", alpha}, {"gamma", gamma}}, [&](const auto& scalars) -> Status {
    mluopsFocalLossProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_focal_loss_softmax_forward({handle,
                                                                    {"softmax", softmax_desc, softmax},
                                                                    {"target", target_desc, target},
                                                                    {"weight", weight_desc, weight},
                                                                    scalars[0],
                                                                    scalars[1],
                                                                    {"output", output_desc, output}},
                                                                   problem));
    return dispatch(*handle, "focal_loss_softmax_forward", problem, &mluopsBackend::focal_loss_softmax_forward);
  });
}

mluOpStatus_t mluOpExtFocalLossSoftmaxBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t softmax_desc,
                                               const void* softmax, const mluOpTensorDescriptor_t target_desc,
                                               const void* target, const mluOpTensorDescriptor_t weight_desc,
                                               const void* weight, const float alpha, const float gamma,
                                               const mluOpTensorDescriptor_t grad_input_desc, void* grad_input) {
  return guard_operator(__func__, handle, {{"alpha", alpha}, {"gamma", gamma}}, [&](const auto& scalars) -> Status {
    mluopsFocalLossProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_focal_loss_softmax_backward({handle,
                                                                     {"softmax", softmax_desc, softmax},
                                                                     {"target", target_desc, target},
                                                                     {"weight", weight_desc, weight},
                                                                     scalars[0],
                                                                     scalars[1],
                                                                     {"grad_input", grad_input_desc, grad_input}},
                                                                    problem));
    return dispatch(*handle, "focal_loss_softmax_backward", problem, &mluopsBackend::focal_loss_softmax_backward);
  });
}
