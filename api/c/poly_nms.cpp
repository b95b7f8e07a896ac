#include "common/op/poly_nms.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/poly_nms.h"

using namespace mluops;

mluOpStatus_t mluOpGetPolyNmsWorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                           size_t* size) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("handle", handle));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("boxes_desc", boxes_desc));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("size", size));
    MLUOPS_RETURN_IF_FINISHED(op::is_polygons({"boxes", boxes_desc, nullptr}));
    *size = 0;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpPolyNms(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                           const float iou_threshold, void*, size_t, const mluOpTensorDescriptor_t output_desc,
                           void* output, void* output_size) {
  return guard_operator(__func__, handle, {{"iou_threshold", iou_threshold}}, [&](const auto& scalars) -> Status {
    mluopsPolyNmsProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_poly_nms(
        {handle, {"boxes", boxes_desc, boxes}, scalars[0], {"output", output_desc, output}, output_size}, problem));
    return dispatch(*handle, "poly_nms", problem, &mluopsBackend::poly_nms);
  });
}
