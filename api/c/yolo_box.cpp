#include "common/op/yolo_box.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/yolo_box.h"

using namespace mluops;

mluOpStatus_t mluOpYoloBox(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void* x,
                           const mluOpTensorDescriptor_t img_size_desc, const void* img_size,
                           const mluOpTensorDescriptor_t anchors_desc, const void* anchors, const int class_num,
                           const float conf_thresh, const int downsample_ratio, const bool clip_bbox, const float scale,
                           const bool iou_aware, const float iou_aware_factor, const mluOpTensorDescriptor_t boxes_desc,
                           void* boxes, const mluOpTensorDescriptor_t scores_desc, void* scores) {
  return guard_operator(__func__, handle,
                        {{"conf_thresh", conf_thresh}, {"scale", scale}, {"iou_aware_factor", iou_aware_factor}},
                        [&](const auto& scalars) -> Status {
                          mluopsYoloBoxProblem problem;
                          MLUOPS_RETURN_IF_FINISHED(op::check_yolo_box({handle,
                                                                        {"x", x_desc, x},
                                                                        {"img_size", img_size_desc, img_size},
                                                                        {"anchors", anchors_desc, anchors},
                                                                        class_num,
                                                                        scalars[0],
                                                                        downsample_ratio,
                                                                        clip_bbox,
                                                                        scalars[1],
                                                                        iou_aware,
                                                                        scalars[2],
                                                                        {"boxes", boxes_desc, boxes},
                                                                        {"scores", scores_desc, scores}},
                                                                       problem));
                          return dispatch(*handle, "yolo_box", problem, &mluopsBackend::yolo_box);
                        });
}
