#include "common/op/correlation.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/correlation.h"

using namespace mluops;

mluOpStatus_t mluOpExtCorrelationForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input1_desc,
                                         const void* input1, const mluOpTensorDescriptor_t input2_desc,
                                         const void* input2, const int kernel_h, const int kernel_w,
                                         const int max_displacement, const int stride_h, const int stride_w,
                                         const int pad_h, const int pad_w, const int dilation_h, const int dilation_w,
                                         const int dilation_patch_h, const int dilation_patch_w,
                                         const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsCorrelationForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_correlation_forward({handle,
                                       {"input1", input1_desc, input1},
                                       {"input2", input2_desc, input2},
                                       {kernel_h, kernel_w, max_displacement, stride_h, stride_w, pad_h, pad_w,
                                        dilation_h, dilation_w, dilation_patch_h, dilation_patch_w},
                                       {"output", output_desc, output}},
                                      problem));
    return dispatch(*handle, "correlation_forward", problem, &mluopsBackend::correlation_forward);
  });
}

mluOpStatus_t mluOpExtCorrelationBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                          const void* grads, const mluOpTensorDescriptor_t input1_desc,
                                          const void* input1, const mluOpTensorDescriptor_t input2_desc,
                                          const void* input2, const int kernel_h, const int kernel_w,
                                          const int max_displacement, const int stride_h, const int stride_w,
                                          const int pad_h, const int pad_w, const int dilation_h, const int dilation_w,
                                          const int dilation_patch_h, const int dilation_patch_w,
                                          const mluOpTensorDescriptor_t grads1_desc, void* grads1,
                                          const mluOpTensorDescriptor_t grads2_desc, void* grads2) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsCorrelationBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_correlation_backward({handle,
                                        {"grads", grads_desc, grads},
                                        {"input1", input1_desc, input1},
                                        {"input2", input2_desc, input2},
                                        {kernel_h, kernel_w, max_displacement, stride_h, stride_w, pad_h, pad_w,
                                         dilation_h, dilation_w, dilation_patch_h, dilation_patch_w},
                                        {"grads1", grads1_desc, grads1},
                                        {"grads2", grads2_desc, grads2}},
                                       problem));
    return dispatch(*handle, "correlation_backward", problem, &mluopsBackend::correlation_backward);
  });
}
