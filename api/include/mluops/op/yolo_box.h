/* YoloBox: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_YOLO_BOX_H_
#define MLUOPS_OP_YOLO_BOX_H_

#include <stdbool.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Decodes the map of a YOLO head: the box of every anchor at every pixel, and its scores of all classes.
 *
 *  @param x                 T [N, C, H, W], ARRAY; C = S (5 + class_num): x, y, w, h, confidence and classes of each
 * anchor; with iou_aware S channels of IoUs before them.
 *  @param img_size          INT32 [N, 2], ARRAY: height and width of each image.
 *  @param anchors           INT32 [2 S], ARRAY, S >= 1: width and height of each anchor, in pixels of the network's
 * input.
 *  @param class_num         >= 1.
 *  @param conf_thresh       boxes and scores below this confidence are 0.
 *  @param downsample_ratio  pixels of the network's input to one of x, >= 1.
 *  @param clip_bbox         boxes are clipped to [0, size - 1].
 *  @param scale             of the sigmoid of x and y, about its middle.
 *  @param iou_aware         the confidence is confidence^(1 - iou_aware_factor) IoU^iou_aware_factor.
 *  @param iou_aware_factor  in [0, 1] where iou_aware.
 *  @param boxes             T [N, S, 4, H W], ARRAY: x1, y1, x2, y2; overwritten.
 *  @param scores            T [N, S, class_num, H W], ARRAY; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16. N, H or W of 0: SUCCESS. Strided tensors: NOT_SUPPORTED. Cost: one
 *  exponential a score. Source: Redmon and Farhadi, "YOLOv3", 2018; Paddle's yolo_box; docs/op/yolo_box.md. */
mluOpStatus_t MLUOP_WIN_API mluOpYoloBox(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void* x,
                                         const mluOpTensorDescriptor_t img_size_desc, const void* img_size,
                                         const mluOpTensorDescriptor_t anchors_desc, const void* anchors,
                                         const int class_num, const float conf_thresh, const int downsample_ratio,
                                         const bool clip_bbox, const float scale, const bool iou_aware,
                                         const float iou_aware_factor, const mluOpTensorDescriptor_t boxes_desc,
                                         void* boxes, const mluOpTensorDescriptor_t scores_desc, void* scores);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_YOLO_BOX_H_ */
