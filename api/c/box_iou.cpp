#include "common/op/box_iou.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/box_iou.h"
#include "mluops/op/polygons.h"

using namespace mluops;

namespace {

/// What the three functions of IoU do with their arguments.
mluOpStatus_t box_iou(const char* function, const char* op, OperatorMember<mluopsBoxIouProblem> member,
                      Status (*check)(const op::BoxIouArgs&, mluopsBoxIouProblem&), const op::BoxIouArgs& args) {
  return guard_operator(function, args.handle, [&]() -> Status {
    mluopsBoxIouProblem problem;
    MLUOPS_RETURN_IF_FINISHED(check(args, problem));
    return dispatch(*args.handle, op, problem, member);
  });
}

}  // namespace

mluOpStatus_t mluOpBboxOverlaps(mluOpHandle_t handle, const int mode, const bool aligned, const int offset,
                                const mluOpTensorDescriptor_t bbox1_desc, const void* bbox1,
                                const mluOpTensorDescriptor_t bbox2_desc, const void* bbox2,
                                const mluOpTensorDescriptor_t ious_desc, void* ious) {
  return box_iou(__func__, "bbox_overlaps", &mluopsBackend::bbox_overlaps, op::check_bbox_overlaps,
                 {handle,
                  mode,
                  aligned,
                  offset,
                  {"bbox1", bbox1_desc, bbox1},
                  {"bbox2", bbox2_desc, bbox2},
                  {"ious", ious_desc, ious}});
}

mluOpStatus_t mluOpBoxIouRotated(mluOpHandle_t handle, const int mode, const bool aligned,
                                 const mluOpTensorDescriptor_t bbox1_desc, const void* bbox1,
                                 const mluOpTensorDescriptor_t bbox2_desc, const void* bbox2,
                                 const mluOpTensorDescriptor_t ious_desc, void* ious) {
  return box_iou(__func__, "box_iou_rotated", &mluopsBackend::box_iou_rotated, op::check_box_iou_rotated,
                 {handle,
                  mode,
                  aligned,
                  0,
                  {"bbox1", bbox1_desc, bbox1},
                  {"bbox2", bbox2_desc, bbox2},
                  {"ious", ious_desc, ious}});
}

mluOpStatus_t mluOpExtBoxIouQuadri(mluOpHandle_t handle, const int mode, const bool aligned,
                                   const mluOpTensorDescriptor_t bbox1_desc, const void* bbox1,
                                   const mluOpTensorDescriptor_t bbox2_desc, const void* bbox2,
                                   const mluOpTensorDescriptor_t ious_desc, void* ious) {
  return box_iou(__func__, "box_iou_quadri", &mluopsBackend::box_iou_quadri, op::check_box_iou_quadri,
                 {handle,
                  mode,
                  aligned,
                  0,
                  {"bbox1", bbox1_desc, bbox1},
                  {"bbox2", bbox2_desc, bbox2},
                  {"ious", ious_desc, ious}});
}

mluOpStatus_t mluOpGetNmsRotatedWorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                              size_t* workspace_size) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("handle", handle));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("boxes_desc", boxes_desc));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("workspace_size", workspace_size));
    *workspace_size = 0;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpNmsRotated(mluOpHandle_t handle, const float iou_threshold, const mluOpTensorDescriptor_t boxes_desc,
                              const void* boxes, const mluOpTensorDescriptor_t scores_desc, const void* scores, void*,
                              size_t, const mluOpTensorDescriptor_t output_desc, void* output, int32_t* result_num) {
  return guard_operator(__func__, handle, {{"iou_threshold", iou_threshold}}, [&](const auto& scalars) -> Status {
    mluopsNmsRotatedProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_nms_rotated({handle,
                                                     scalars[0],
                                                     {"boxes", boxes_desc, boxes},
                                                     {"scores", scores_desc, scores},
                                                     {"output", output_desc, output},
                                                     result_num},
                                                    problem));
    return dispatch(*handle, "nms_rotated", problem, &mluopsBackend::nms_rotated);
  });
}
