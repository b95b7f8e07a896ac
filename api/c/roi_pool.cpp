#include "common/op/roi_pool.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/roi_pool.h"

using namespace mluops;

mluOpStatus_t mluOpRoiPoolingForward(mluOpHandle_t handle, mluOpPoolingMode_t pooling_mode,
                                     const mluOpTensorDescriptor_t input_desc, const void* input,
                                     const mluOpTensorDescriptor_t rois_desc, const void* rois, float spatial_scale,
                                     const mluOpTensorDescriptor_t output_desc, void* output, int* argmax) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsRoiPoolForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_roi_pool_forward({handle,
                                                          pooling_mode,
                                                          {"input", input_desc, input},
                                                          {"rois", rois_desc, rois},
                                                          scalars[0],
                                                          {"output", output_desc, output},
                                                          argmax},
                                                         problem));
    return dispatch(*handle, "roi_pool_forward", problem, &mluopsBackend::roi_pool_forward);
  });
}

mluOpStatus_t mluOpRoiPoolingBackward(mluOpHandle_t handle, mluOpPoolingMode_t pooling_mode,
                                      const mluOpTensorDescriptor_t grads_desc, const void* grads,
                                      const mluOpTensorDescriptor_t rois_desc, const void* rois,
                                      const mluOpTensorDescriptor_t argmax_desc, const int* argmax,
                                      const float spatial_scale, const mluOpTensorDescriptor_t grads_image_desc,
                                      void* grads_image) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsRoiPoolBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_roi_pool_backward({handle,
                                                           pooling_mode,
                                                           {"grads", grads_desc, grads},
                                                           {"rois", rois_desc, rois},
                                                           {"argmax", argmax_desc, argmax},
                                                           scalars[0],
                                                           {"grads_image", grads_image_desc, grads_image}},
                                                          problem));
    return dispatch(*handle, "roi_pool_backward", problem, &mluopsBackend::roi_pool_backward);
  });
}
