#include "common/op/deform_roi_pool.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/deform_roi_pool.h"

using namespace mluops;

mluOpStatus_t mluOpDeformRoiPoolForward(const mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                        const void* input, const mluOpTensorDescriptor_t rois_desc, const void* rois,
                                        const mluOpTensorDescriptor_t offset_desc, const void* offset,
                                        const int pooled_height, const int pooled_width, const float spatial_scale,
                                        const int sampling_ratio, const float gamma,
                                        const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(
      __func__, handle, {{"spatial_scale", spatial_scale}, {"gamma", gamma}}, [&](const auto& scalars) -> Status {
        mluopsDeformRoiPoolForwardProblem problem;
        MLUOPS_RETURN_IF_FINISHED(
            op::check_deform_roi_pool_forward({handle,
                                               {"input", input_desc, input},
                                               {"rois", rois_desc, rois},
                                               {"offset", offset_desc, offset},
                                               {pooled_height, pooled_width, scalars[0], sampling_ratio, scalars[1]},
                                               {"output", output_desc, output}},
                                              problem));
        return dispatch(*handle, "deform_roi_pool_forward", problem, &mluopsBackend::deform_roi_pool_forward);
      });
}

mluOpStatus_t mluOpDeformRoiPoolBackward(const mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                         const void* grad_output, const mluOpTensorDescriptor_t input_desc,
                                         const void* input, const mluOpTensorDescriptor_t rois_desc, const void* rois,
                                         const mluOpTensorDescriptor_t offset_desc, const void* offset,
                                         const int pooled_height, const int pooled_width, const float spatial_scale,
                                         const int sampling_ratio, const float gamma,
                                         const mluOpTensorDescriptor_t grad_input_desc, void* grad_input,
                                         const mluOpTensorDescriptor_t grad_offset_desc, void* grad_offset) {
  return guard_operator(
      __func__, handle, {{"spatial_scale", spatial_scale}, {"gamma", gamma}}, [&](const auto& scalars) -> Status {
        mluopsDeformRoiPoolBackwardProblem problem;
        MLUOPS_RETURN_IF_FINISHED(
            op::check_deform_roi_pool_backward({handle,
                                                {"grad_output", grad_output_desc, grad_output},
                                                {"input", input_desc, input},
                                                {"rois", rois_desc, rois},
                                                {"offset", offset_desc, offset},
                                                {pooled_height, pooled_width, scalars[0], sampling_ratio, scalars[1]},
                                                {"grad_input", grad_input_desc, grad_input},
                                                {"grad_offset", grad_offset_desc, grad_offset}},
                                               problem));
        return dispatch(*handle, "deform_roi_pool_backward", problem, &mluopsBackend::deform_roi_pool_backward);
      });
}
