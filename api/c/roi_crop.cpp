#include "common/op/roi_crop.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/roi_crop.h"

using namespace mluops;

mluOpStatus_t mluOpRoiCropForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void* input,
                                  const mluOpTensorDescriptor_t grid_desc, const void* grid,
                                  const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsRoiCropForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_roi_crop_forward(
        {handle, {"input", input_desc, input}, {"grid", grid_desc, grid}, {"output", output_desc, output}}, problem));
    return dispatch(*handle, "roi_crop_forward", problem, &mluopsBackend::roi_crop_forward);
  });
}

mluOpStatus_t mluOpRoiCropBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                   const void* grad_output, const mluOpTensorDescriptor_t grid_desc, const void* grid,
                                   const mluOpTensorDescriptor_t grad_input_desc, void* grad_input) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsRoiCropBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_roi_crop_backward({handle,
                                                           {"grad_output", grad_output_desc, grad_output},
                                                           {"grid", grid_desc, grid},
                                                           {"grad_input", grad_input_desc, grad_input}},
                                                          problem));
    return dispatch(*handle, "roi_crop_backward", problem, &mluopsBackend::roi_crop_backward);
  });
}
