#include "common/op/iou3d.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/iou3d.h"

using namespace mluops;

mluOpStatus_t mluOpExtBoxesOverlapBev(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_a_desc,
                                      const void* boxes_a, const mluOpTensorDescriptor_t boxes_b_desc,
                                      const void* boxes_b, const mluOpTensorDescriptor_t overlap_desc, void* overlap) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsBoxesOverlapBevProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_boxes_overlap_bev({handle,
                                                           {"boxes_a", boxes_a_desc, boxes_a},
                                                           {"boxes_b", boxes_b_desc, boxes_b},
                                                           {"overlap", overlap_desc, overlap}},
                                                          problem));
    return dispatch(*handle, "boxes_overlap_bev", problem, &mluopsBackend::boxes_overlap_bev);
  });
}

mluOpStatus_t mluOpExtNms3d(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                            const float iou_threshold, const int rotated, const mluOpTensorDescriptor_t keep_desc,
                            void* keep, void* num_out) {
  return guard_operator(__func__, handle, {{"iou_threshold", iou_threshold}}, [&](const auto& scalars) -> Status {
    mluopsNms3dProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_nms3d(
        {handle, {"boxes", boxes_desc, boxes}, scalars[0], rotated, {"keep", keep_desc, keep}, num_out}, problem));
    return dispatch(*handle, "nms3d", problem, &mluopsBackend::nms3d);
  });
}
