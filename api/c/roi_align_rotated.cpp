#include "common/op/roi_align_rotated.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/roi_align_rotated.h"

using namespace mluops;

mluOpStatus_t mluOpRoiAlignRotatedForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc,
                                          const void* features, const mluOpTensorDescriptor_t rois_desc,
                                          const void* rois, const int pooled_height, const int pooled_width,
                                          const int sample_ratio, const float spatial_scale, const bool aligned,
                                          const bool clockwise, const mluOpTensorDescriptor_t output_desc,
                                          void* output) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsRoiAlignRotatedForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_roi_align_rotated_forward(
        {handle,
         {"features", features_desc, features},
         {"rois", rois_desc, rois},
         {pooled_height, pooled_width, sample_ratio, scalars[0], aligned, clockwise},
         {"output", output_desc, output}},
        problem));
    return dispatch(*handle, "roi_align_rotated_forward", problem, &mluopsBackend::roi_align_rotated_forward);
  });
}

mluOpStatus_t mluOpRoiAlignRotatedBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t top_grad_desc,
                                           const void* top_grad, const mluOpTensorDescriptor_t rois_desc,
                                           const void* rois, const int pooled_height, const int pooled_width,
                                           const int sample_ratio, const float spatial_scale, const bool aligned,
                                           const bool clockwise, const mluOpTensorDescriptor_t bottom_grad_desc,
                                           void* bottom_grad) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsRoiAlignRotatedBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_roi_align_rotated_backward(
        {handle,
         {"top_grad", top_grad_desc, top_grad},
         {"rois", rois_desc, rois},
         {pooled_height, pooled_width, sample_ratio, scalars[0], aligned, clockwise},
         {"bottom_grad", bottom_grad_desc, bottom_grad}},
        problem));
    return dispatch(*handle, "roi_align_rotated_backward", problem, &mluopsBackend::roi_align_rotated_backward);
  });
}
