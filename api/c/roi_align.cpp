#include "common/op/roi_align.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/roi_align.h"

using namespace mluops;

mluOpStatus_t mluOpCreateRoiAlignForwardDescriptor(mluOpRoiAlignForwardDescriptor_t* desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("desc", desc));
    *desc = new mluOpRoiAlignStruct;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpDestroyRoiAlignForwardDescriptor(mluOpRoiAlignForwardDescriptor_t desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("desc", desc));
    delete desc;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpSetRoiAlignForwardDescriptor_v2(mluOpRoiAlignForwardDescriptor_t roialign_desc,
                                                   const int pooled_height, const int pooled_width,
                                                   const int sampling_ratio, const float spatial_scale,
                                                   const int pool_mode, const bool aligned) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("roialign_desc", roialign_desc));
    const mluOpRoiAlignStruct wanted = {pooled_height, pooled_width, sampling_ratio, spatial_scale, pool_mode, aligned};
    MLUOPS_RETURN_IF_FINISHED(op::check_roi_align_descriptor(wanted));
    *roialign_desc = wanted;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpRoiAlignForward_v2(mluOpHandle_t handle, const mluOpRoiAlignForwardDescriptor_t roialign_desc,
                                      const mluOpTensorDescriptor_t input_desc, const void* input,
                                      const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                      const mluOpTensorDescriptor_t output_desc, void* output,
                                      const mluOpTensorDescriptor_t argmax_x_desc, void* argmax_x,
                                      const mluOpTensorDescriptor_t argmax_y_desc, void* argmax_y) {
  const float spatial_scale = roialign_desc != nullptr ? roialign_desc->spatial_scale : 0;
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    mluopsRoiAlignForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_roi_align_forward({handle,
                                                           roialign_desc,
                                                           scalars[0],
                                                           {"input", input_desc, input},
                                                           {"boxes", boxes_desc, boxes},
                                                           {"output", output_desc, output},
                                                           {"argmax_x", argmax_x_desc, argmax_x},
                                                           {"argmax_y", argmax_y_desc, argmax_y}},
                                                          problem));
    return dispatch(*handle, "roi_align_forward", problem, &mluopsBackend::roi_align_forward);
  });
}

namespace {

Status run_backward(const op::RoiAlignBackwardArgs& args) {
  mluopsRoiAlignBackwardProblem problem;
  MLUOPS_RETURN_IF_FINISHED(op::check_roi_align_backward(args, problem));
  return dispatch(*args.handle, "roi_align_backward", problem, &mluopsBackend::roi_align_backward);
}

}  // namespace

mluOpStatus_t mluOpRoiAlignBackward(mluOpHandle_t handle, const float spatial_scale, const int sampling_ratio,
                                    const bool aligned, const mluOpTensorDescriptor_t grads_desc, const void* grads,
                                    const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                    const mluOpTensorDescriptor_t grads_image_desc, void* grads_image) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    return run_backward({handle,
                         {"grads", grads_desc, grads},
                         {"boxes", boxes_desc, boxes},
                         {"argmax_x", nullptr, nullptr},
                         {"argmax_y", nullptr, nullptr},
                         scalars[0],
                         sampling_ratio,
                         aligned,
                         1,
                         {"grads_image", grads_image_desc, grads_image}});
  });
}

mluOpStatus_t mluOpRoiAlignBackward_v2(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                       const void* grads, const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                       const mluOpTensorDescriptor_t argmax_x_desc, const void* argmax_x,
                                       const mluOpTensorDescriptor_t argmax_y_desc, const void* argmax_y,
                                       const float spatial_scale, const int sampling_ratio, const bool aligned,
                                       const int pool_mode, const mluOpTensorDescriptor_t grads_image_desc,
                                       void* grads_image) {
  return guard_operator(__func__, handle, {{"spatial_scale", spatial_scale}}, [&](const auto& scalars) -> Status {
    return run_backward({handle,
                         {"grads", grads_desc, grads},
                         {"boxes", boxes_desc, boxes},
                         {"argmax_x", argmax_x_desc, argmax_x},
                         {"argmax_y", argmax_y_desc, argmax_y},
                         scalars[0],
                         sampling_ratio,
                         aligned,
                         pool_mode,
                         {"grads_image", grads_image_desc, grads_image}});
  });
}
