#include "common/op/border_align.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/border_align.h"

using namespace mluops;

mluOpStatus_t mluOpBorderAlignForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void* input,
                                      const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                      const int32_t pool_size, const mluOpTensorDescriptor_t output_desc, void* output,
                                      const mluOpTensorDescriptor_t argmax_idx_desc, void* argmax_idx) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsBorderAlignForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_border_align_forward({handle,
                                                              {"input", input_desc, input},
                                                              {"boxes", boxes_desc, boxes},
                                                              pool_size,
                                                              {"output", output_desc, output},
                                                              {"argmax_idx", argmax_idx_desc, argmax_idx}},
                                                             problem));
    return dispatch(*handle, "border_align_forward", problem, &mluopsBackend::border_align_forward);
  });
}

mluOpStatus_t mluOpBorderAlignBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                       const void* grad_output, const mluOpTensorDescriptor_t boxes_desc,
                                       const void* boxes, const mluOpTensorDescriptor_t argmax_idx_desc,
                                       const void* argmax_idx, const int32_t pool_size,
                                       const mluOpTensorDescriptor_t grad_input_desc, void* grad_input) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsBorderAlignBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_border_align_backward({handle,
                                                               {"grad_output", grad_output_desc, grad_output},
                                                               {"boxes", boxes_desc, boxes},
                                                               {"argmax_idx", argmax_idx_desc, argmax_idx},
                                                               pool_size,
                                                               {"grad_input", grad_input_desc, grad_input}},
                                                              problem));
    return dispatch(*handle, "border_align_backward", problem, &mluopsBackend::border_align_backward);
  });
}
