/* IoU of upright and of rotated boxes, and suppression by the latter: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_BOX_IOU_H_
#define MLUOPS_OP_BOX_IOU_H_

#include <stdbool.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** IoU, or shared area over that of the first box, of upright boxes.
 *
 *    shared = max(min(x2) - max(x1) + offset, 0) * max(min(y2) - max(y1) + offset, 0)
 *    area = (x2 - x1 + offset) * (y2 - y1 + offset)
 *    ious = shared / (area_1 + area_2 - shared), or shared / area_1; 0 where that is not greater than 0
 *
 *  @param mode     0: IoU; 1: shared area over that of the first box.
 *  @param aligned  false: each of bbox1 with each of bbox2; true: one by one.
 *  @param offset   0 or 1, added to widths and heights.
 *  @param bbox1    T [N, 4], ARRAY: x1, y1, x2, y2.
 *  @param bbox2    T [M, 4], ARRAY; M = N if aligned.
 *  @param ious     T [N, M], ARRAY; [N] if aligned, where N = 0 also [0, 1]; overwritten.
 *  T: FLOAT, HALF; EXTENDED also DOUBLE, BFLOAT16. ious empty: SUCCESS, nothing written. Strided tensors:
 *  NOT_SUPPORTED. Cost: some 12 flops a pair. Source: mmcv's bbox_overlaps. */
mluOpStatus_t MLUOP_WIN_API mluOpBboxOverlaps(mluOpHandle_t handle, const int mode, const bool aligned,
                                              const int offset, const mluOpTensorDescriptor_t bbox1_desc,
                                              const void* bbox1, const mluOpTensorDescriptor_t bbox2_desc,
                                              const void* bbox2, const mluOpTensorDescriptor_t ious_desc, void* ious);

/** IoU, or shared area over that of the first box, of rotated boxes.
 *
 *  @param mode     0: IoU; 1: shared area over that of the first box.
 *  @param aligned  false: each of bbox1 with each of bbox2; true: one by one.
 *  @param bbox1    T [N, 5], ARRAY: x and y of the centre, width, height, rotation in radians.
 *  @param bbox2    T [M, 5], ARRAY; M = N if aligned.
 *  @param ious     T [N, M], ARRAY; [N] if aligned; overwritten. 0 where nothing is shared, and for boxes with an area
 *                  below 1e-14 or a number that is not finite.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16; all of it is computed in double. ious empty: SUCCESS, nothing
 *  written. Strided tensors: NOT_SUPPORTED. Cost: some 150 flops a pair, 8 where two boxes are far apart.
 *  Source: mmcv's box_iou_rotated; docs/op/box_iou.md. */
mluOpStatus_t MLUOP_WIN_API mluOpBoxIouRotated(mluOpHandle_t handle, const int mode, const bool aligned,
                                               const mluOpTensorDescriptor_t bbox1_desc, const void* bbox1,
                                               const mluOpTensorDescriptor_t bbox2_desc, const void* bbox2,
                                               const mluOpTensorDescriptor_t ious_desc, void* ious);

/** Bytes of the workspace of mluOpNmsRotated: 0, it takes none.
 *  BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetNmsRotatedWorkspaceSize(mluOpHandle_t handle,
                                                            const mluOpTensorDescriptor_t boxes_desc,
                                                            size_t* workspace_size);

/** Keeps each box, best score first, whose IoU with every box kept before is not greater than a threshold.
 *
 *  @param iou_threshold  not NaN.
 *  @param boxes       T [N, 5], ARRAY: x and y of the centre, width, height, rotation in radians; or [N, 6], whose last
 *                     number, a label, is not looked at (as on the device).
 *  @param scores      T [N], ARRAY. NaN counts as the best; equal ones are taken in order.
 *  @param workspace   not looked at, nor its size.
 *  @param output      INT32 [N], ARRAY: the indices of the boxes kept, best first, zeros behind; overwritten.
 *  @param result_num  how many are kept; overwritten, with 0 where N = 0.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16. IoUs are those of mluOpBoxIouRotated, not rounded to T. Strided
 *  tensors: NOT_SUPPORTED. Cost: at most N^2 / 2 pairs. Source: mmcv's nms_rotated. */
mluOpStatus_t MLUOP_WIN_API mluOpNmsRotated(mluOpHandle_t handle, const float iou_threshold,
                                            const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                            const mluOpTensorDescriptor_t scores_desc, const void* scores,
                                            void* workspace, size_t workspace_size,
                                            const mluOpTensorDescriptor_t output_desc, void* output,
                                            int32_t* result_num);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_BOX_IOU_H_ */
