#include "common/op/prroi_pool.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/prroi_pool.h"

using namespace mluops;

mluOpStatus_t mluOpExtPrRoiPoolForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                       const void* input, const mluOpTensorDescriptor_t rois_desc, const void* rois,
                                       const float spatial_scale, const mluOpTensorDescriptor_t output_desc,
                                       void* output) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsPrRoiPoolForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_prroi_pool_forward(
        {handle, {"input", input_desc, input}, {"rois", rois_desc, rois}, scalars[0], {"output", output_desc, output}},
        problem));
    return dispatch(*handle, "prroi_pool_forward", problem, &mluopsBackend::prroi_pool_forward);
  });
}

mluOpStatus_t mluOpExtPrRoiPoolBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                        const void* grads, const mluOpTensorDescriptor_t input_desc, const void* input,
                                        const mluOpTensorDescriptor_t rois_desc, const void* rois,
                                        const float spatial_scale, const mluOpTensorDescriptor_t grads_image_desc,
                                        void* grads_image, const mluOpTensorDescriptor_t grads_rois_desc,
                                        void* grads_rois) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsPrRoiPoolBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_prroi_pool_backward({handle,
                                                             {"grads", grads_desc, grads},
                                                             {"input", input_desc, input},
                                                             {"rois", rois_desc, rois},
                                                             scalars[0],
                                                             {"grads_image", grads_image_desc, grads_image},
                                                             {"grads_rois", grads_rois_desc, grads_rois}},
                                                            problem));
    return dispatch(*handle, "prroi_pool_backward", problem, &mluopsBackend::prroi_pool_backward);
  });
}
