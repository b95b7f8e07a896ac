/* The problem of YoloBox (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_YOLO_BOX_H_
#define MLUOPS_PROBLEM_YOLO_BOX_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** x [n, (iou_aware + 5 + classes) * anchors, h, w], img_size [n, 2], anchors [2 * anchors]; boxes [n, anchors, 4, h *
 * w], scores [n, anchors, classes, h * w]. */
typedef struct mluopsYoloBoxShape {
  mluOpDataType_t dtype;
  int64_t n, anchors, classes, h, w;
} mluopsYoloBoxShape;

typedef struct mluopsYoloBoxProblem {
  mluopsYoloBoxShape shape;
  const void* x;
  const int32_t* img_size; /* height, width */
  const int32_t* anchors;  /* width, height */
  void* boxes;
  void* scores;
  double conf_thresh, scale;
  double iou_aware_factor;      /* in [0, 1] where iou_aware */
  int32_t downsample_ratio;     /* >= 1 */
  int32_t clip_bbox, iou_aware; /* 0 or 1 */
} mluopsYoloBoxProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_YOLO_BOX_H_ */
