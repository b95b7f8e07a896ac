#include "common/op/ps_roi_pool.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/ps_roi_pool.h"

using namespace mluops;

mluOpStatus_t mluOpPsRoiPoolForward(mluOpHandle_t handle, const int pooled_height, const int pooled_width,
                                    const float spatial_scale, const int group_size, const int output_dim,
                                    const mluOpTensorDescriptor_t input_desc, const void* input,
                                    const mluOpTensorDescriptor_t rois_desc, const void* rois,
                                    const mluOpTensorDescriptor_t output_desc, void* output,
                                    const mluOpTensorDescriptor_t mapping_channel_desc, void* mapping_channel) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsPsRoiPoolForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_ps_roi_pool_forward({handle,
                                       {pooled_height, pooled_width, scalars[0], output_dim},
                                       group_size,
                                       {"input", input_desc, input},
                                       {"rois", rois_desc, rois},
                                       {"output", output_desc, output},
                                       {"mapping_channel", mapping_channel_desc, mapping_channel}},
                                      problem));
    return dispatch(*handle, "ps_roi_pool_forward", problem, &mluopsBackend::ps_roi_pool_forward);
  });
}

mluOpStatus_t mluOpPsRoiPoolBackward(mluOpHandle_t handle, const int pooled_height, const int pooled_width,
                                     const float spatial_scale, const int output_dim,
                                     const mluOpTensorDescriptor_t top_grad_desc, const void* top_grad,
                                     const mluOpTensorDescriptor_t rois_desc, const void* rois,
                                     const mluOpTensorDescriptor_t mapping_channel_desc, const void* mapping_channel,
                                     const mluOpTensorDescriptor_t bottom_grad_desc, void* bottom_grad) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsPsRoiPoolBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_ps_roi_pool_backward({handle,
                                        {pooled_height, pooled_width, scalars[0], output_dim},
                                        {"top_grad", top_grad_desc, top_grad},
                                        {"rois", rois_desc, rois},
                                        {"mapping_channel", mapping_channel_desc, mapping_channel},
                                        {"bottom_grad", bottom_grad_desc, bottom_grad}},
                                       problem));
    return dispatch(*handle, "ps_roi_pool_backward", problem, &mluopsBackend::ps_roi_pool_backward);
  });
}
