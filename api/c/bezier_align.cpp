#include "common/op/bezier_align.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/bezier_align.h"

using namespace mluops;

mluOpStatus_t mluOpExtBezierAlignForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                         const void* input, const mluOpTensorDescriptor_t beziers_desc,
                                         const void* beziers, const float spatial_scale, const int sampling_ratio,
                                         const bool aligned, const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsBezierAlignForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_bezier_align_forward({handle,
                                                              {"input", input_desc, input},
                                                              {"beziers", beziers_desc, beziers},
                                                              {scalars[0], sampling_ratio, aligned},
                                                              {"output", output_desc, output}},
                                                             problem));
    return dispatch(*handle, "bezier_align_forward", problem, &mluopsBackend::bezier_align_forward);
  });
}

mluOpStatus_t mluOpExtBezierAlignBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                          const void* grads, const mluOpTensorDescriptor_t beziers_desc,
                                          const void* beziers, const float spatial_scale, const int sampling_ratio,
                                          const bool aligned, const mluOpTensorDescriptor_t grads_image_desc,
                                          void* grads_image) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsBezierAlignBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_bezier_align_backward({handle,
                                                               {"grads", grads_desc, grads},
                                                               {"beziers", beziers_desc, beziers},
                                                               {scalars[0], sampling_ratio, aligned},
                                                               {"grads_image", grads_image_desc, grads_image}},
                                                              problem));
    return dispatch(*handle, "bezier_align_backward", problem, &mluopsBackend::bezier_align_backward);
  });
}
