#include "common/op/rotated_feature_align.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/rotated_feature_align.h"

using namespace mluops;

mluOpStatus_t mluOpExtRotatedFeatureAlignForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                 const void* input, const mluOpTensorDescriptor_t bboxes_desc,
                                                 const void* bboxes, const float spatial_scale, const int points,
                                                 const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsRotatedFeatureAlignForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_rotated_feature_align_forward({handle,
                                                                       {"input", input_desc, input},
                                                                       {"bboxes", bboxes_desc, bboxes},
                                                                       scalars[0],
                                                                       points,
                                                                       {"output", output_desc, output}},
                                                                      problem));
    return dispatch(*handle, "rotated_feature_align_forward", problem, &mluopsBackend::rotated_feature_align_forward);
  });
}

mluOpStatus_t mluOpExtRotatedFeatureAlignBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                                  const void* grads, const mluOpTensorDescriptor_t bboxes_desc,
                                                  const void* bboxes, const float spatial_scale, const int points,
                                                  const mluOpTensorDescriptor_t grads_image_desc, void* grads_image) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsRotatedFeatureAlignBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_rotated_feature_align_backward({handle,
                                                                        {"grads", grads_desc, grads},
                                                                        {"bboxes", bboxes_desc, bboxes},
                                                                        scalars[0],
                                                                        points,
                                                                        {"grads_image", grads_image_desc, grads_image}},
                                                                       problem));
    return dispatch(*handle, "rotated_feature_align_backward", problem, &mluopsBackend::rotated_feature_align_backward);
  });
}
