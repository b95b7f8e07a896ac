/* PolyNms: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_POLY_NMS_H_
#define MLUOPS_OP_POLY_NMS_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Bytes of the workspace of mluOpPolyNms: 0, it takes none.
 *  BAD_PARAM: NULL; boxes that are not [N, 9]. */
mluOpStatus_t MLUOP_WIN_API mluOpGetPolyNmsWorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                                         size_t* size);

/** Keeps each quadrilateral, best score first, whose IoU with every one kept before is not greater than a threshold.
 *
 *  @param boxes          T [N, 9], ARRAY: x and y of the four corners, in turn either way round, and the score. NaN
 *                        counts as the best score; equal ones are taken in order.
 *  @param iou_threshold  not NaN.
 *  @param workspace      not looked at, nor its size.
 *  @param output         INT32 [N], ARRAY: the indices of those kept, ascending, zeros behind; overwritten.
 *  @param output_size    INT32: how many are kept; overwritten, with 0 where N = 0.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16; IoUs are computed in double. Two quadrilaterals without area have
 *  the IoU 1, as on the device; one with a corner that is not finite shares nothing. Strided tensors: NOT_SUPPORTED.
 *  Cost: at most N^2 / 2 pairs. Source: AerialDetection's poly_nms; docs/op/poly_nms.md. */
mluOpStatus_t MLUOP_WIN_API mluOpPolyNms(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                         const void* boxes, const float iou_threshold, void* workspace,
                                         size_t workspace_size, const mluOpTensorDescriptor_t output_desc, void* output,
                                         void* output_size);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_POLY_NMS_H_ */
