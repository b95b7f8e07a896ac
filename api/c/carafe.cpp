#include "common/op/carafe.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/carafe.h"

using namespace mluops;

mluOpStatus_t mluOpCreateCarafeDescriptor(mluOpCarafeDescriptor_t* carafe_desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("carafe_desc", carafe_desc));
    *carafe_desc = new mluOpCarafeStruct;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpSetCarafeDescriptor(mluOpCarafeDescriptor_t carafe_desc, const int dimNb, const int kernel_size,
                                       const int group_size, const int scale_factor) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("carafe_desc", carafe_desc));
    const mluOpCarafeStruct wanted = {dimNb, kernel_size, group_size, scale_factor};
    MLUOPS_RETURN_IF_FINISHED(op::check_carafe_descriptor(wanted));
    *carafe_desc = wanted;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpDestroyCarafeDescriptor(mluOpCarafeDescriptor_t carafe_desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("carafe_desc", carafe_desc));
    delete carafe_desc;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpCarafeForward(mluOpHandle_t handle, const mluOpCarafeDescriptor_t carafe_desc,
                                 const mluOpTensorDescriptor_t input_desc, const void* input,
                                 const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                 const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsCarafeForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_carafe_forward(
        {handle, carafe_desc, {"input", input_desc, input}, {"mask", mask_desc, mask}, {"output", output_desc, output}},
        problem));
    return dispatch(*handle, "carafe_forward", problem, &mluopsBackend::carafe_forward);
  });
}

mluOpStatus_t mluOpCarafeBackward(mluOpHandle_t handle, const mluOpCarafeDescriptor_t carafe_desc,
                                  const mluOpTensorDescriptor_t input_desc, const void* input,
                                  const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                  const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
                                  const mluOpTensorDescriptor_t grad_input_desc, void* grad_input,
                                  const mluOpTensorDescriptor_t grad_mask_desc, void* grad_mask) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsCarafeBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_carafe_backward({handle,
                                                         carafe_desc,
                                                         {"input", input_desc, input},
                                                         {"mask", mask_desc, mask},
                                                         {"grad_output", grad_output_desc, grad_output},
                                                         {"grad_input", grad_input_desc, grad_input},
                                                         {"grad_mask", grad_mask_desc, grad_mask}},
                                                        problem));
    return dispatch(*handle, "carafe_backward", problem, &mluopsBackend::carafe_backward);
  });
}
