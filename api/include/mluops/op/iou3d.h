/* Overlaps of rotated boxes seen from above, and non-maximum suppression by them: part of mlu_op.h, which includes it.
 */
#ifndef MLUOPS_OP_IOU3D_H_
#define MLUOPS_OP_IOU3D_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** The area that each of N boxes shares with each of M, seen from above.
 *
 *    The corners of the polygon are the points where sides cross, and the corners of each box that lie in the other, or
 *    less than 0.01 outside it; in order round their mean. Each operation is rounded to float (double for DOUBLE);
 *    cosine, sine and the angles of the order are those of double, rounded. docs/op/iou3d.md has all of it.
 *
 *  @param boxes_a  T [N, 7], ARRAY; x, y, z, dx, dy, dz, rotation about z. z and dz are not looked at.
 *  @param boxes_b  T [M, 7], ARRAY.
 *  @param overlap  T [N, M], ARRAY; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE and BFLOAT16. overlap empty: SUCCESS, nothing written. Strided tensors:
 *  NOT_SUPPORTED. Cost: N*M pairs, 7 flops where two boxes are far apart, some 10^3 where not.
 *  Source: OpenPCDet's iou3d_nms, mmcv's boxes_overlap_bev. */
mluOpStatus_t MLUOP_WIN_API mluOpExtBoxesOverlapBev(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_a_desc,
                                                    const void* boxes_a, const mluOpTensorDescriptor_t boxes_b_desc,
                                                    const void* boxes_b, const mluOpTensorDescriptor_t overlap_desc,
                                                    void* overlap);

/** Keeps each box whose IoU with every box kept before, seen from above, is not greater than a threshold.
 *
 *    iou(a, b) = s / max(dx_a * dy_a + dx_b * dy_b - s, 1e-8), s their overlap: rotated 1, that of
 *    mluOpExtBoxesOverlapBev; rotated 0, that of the boxes without their rotation
 *    keep[0..K-1] = the indices of the boxes kept, in order; zeros behind; num_out = K
 *
 *  @param boxes          T [N, 7], ARRAY; best first.
 *  @param iou_threshold  not NaN.
 *  @param rotated        0 or 1.
 *  @param keep           INT32 [N], ARRAY; overwritten.
 *  @param num_out        INT32, one number; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE and BFLOAT16. N = 0: num_out 0. Strided tensors: NOT_SUPPORTED. Cost: at most
 *  N^2 / 2 pairs. Source: OpenPCDet's iou3d_nms, mmcv's nms3d and nms3d_normal. */
mluOpStatus_t MLUOP_WIN_API mluOpExtNms3d(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                          const void* boxes, const float iou_threshold, const int rotated,
                                          const mluOpTensorDescriptor_t keep_desc, void* keep, void* num_out);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_IOU3D_H_ */
