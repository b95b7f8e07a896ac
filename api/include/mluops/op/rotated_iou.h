/* RotatedIou: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_ROTATED_IOU_H_
#define MLUOPS_OP_ROTATED_IOU_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** IoU of rotated boxes one by one, that gradients flow through.
 *
 *  @param box1,box2  T [B, N, 5]: x, y, w, h, angle, rectangles; or T [B, N, 7]: x, y, z, w, h, l, angle, boxes rotated
 *                    about z with z in their middle. Of a size below 0 its amount counts in the shared area. Angles in
 *                    radians.
 *  @param ious       T [B, N]; overwritten. 0 of boxes of no size.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16; all of it is computed in double. B or N = 0: SUCCESS, nothing
 *  written. Strided tensors: NOT_SUPPORTED. Cost: some 300 flops a pair. mluOp has no such operator: its
 *  mluOpDiffIouRotatedSortVerticesForward is a step of one.
 *  Source: mmcv's diff_iou_rotated_2d and diff_iou_rotated_3d; docs/op/rotated_iou.md. */
mluOpStatus_t MLUOP_WIN_API mluOpExtRotatedIouForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t box1_desc,
                                                      const void* box1, const mluOpTensorDescriptor_t box2_desc,
                                                      const void* box2, const mluOpTensorDescriptor_t ious_desc,
                                                      void* ious);

/** Gradients of mluOpExtRotatedIouForward with respect to both boxes. Where sides lie on each other, the mean of the
 *  derivatives in both directions.
 *
 *  @param grads         T [B, N].
 *  @param grads1,grads2 T, like box1; overwritten.
 *  The others as in the forward call. */
mluOpStatus_t MLUOP_WIN_API mluOpExtRotatedIouBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                                       const void* grads, const mluOpTensorDescriptor_t box1_desc,
                                                       const void* box1, const mluOpTensorDescriptor_t box2_desc,
                                                       const void* box2, const mluOpTensorDescriptor_t grads1_desc,
                                                       void* grads1, const mluOpTensorDescriptor_t grads2_desc,
                                                       void* grads2);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_ROTATED_IOU_H_ */
