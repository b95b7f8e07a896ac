/* PointsInBoxes: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_POINTS_IN_BOXES_H_
#define MLUOPS_OP_POINTS_IN_BOXES_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** The first of T upright boxes that each of M points is in; z of a box is its centre.
 *
 *    lx = (x - bx) * cos(-rz) - (y - by) * sin(-rz),  ly = (x - bx) * sin(-rz) + (y - by) * cos(-rz)
 *    in the box: |lx| < dx / 2 + 1e-5 and |ly| < dy / 2 + 1e-5 and not |z - bz| > dz / 2, each operation rounded to
 *    float (double for DOUBLE), the sums dx / 2 + 1e-5 once, cos and sin to the nearest float
 *
 *  @param points          T [B, M, 3], ARRAY; x, y, z.
 *  @param boxes           T [B, N, 7], ARRAY; bx, by, bz, dx, dy, dz, rz: the centre, the sizes, the rotation about z.
 *  @param points_indices  INT32 [B, M], ARRAY: index of the box, -1 where there is none; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE and BFLOAT16. An empty tensor: SUCCESS, nothing written. Strided tensors:
 *  NOT_SUPPORTED. Cost: at most 12*B*M*N flops. Source: OpenPCDet's points_in_boxes_gpu. */
mluOpStatus_t MLUOP_WIN_API mluOpPointsInBoxes(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                               const void* points, const mluOpTensorDescriptor_t boxes_desc,
                                               const void* boxes, const mluOpTensorDescriptor_t points_indices_desc,
                                               void* points_indices);

/** mluOpPointsInBoxes with mmcv's boxes: z is the centre of the bottom, and nothing is added to the sizes.
 *
 *    in the box: |lx| < dx / 2 and |ly| < dy / 2 and not |z - (bz + dz / 2)| > dz / 2
 *
 *  Arguments, dtypes, statuses and cost: those of mluOpPointsInBoxes. Source: mmcv's points_in_boxes_part. */
mluOpStatus_t MLUOP_WIN_API mluOpExtPointsInBoxesPart(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                                      const void* points, const mluOpTensorDescriptor_t boxes_desc,
                                                      const void* boxes,
                                                      const mluOpTensorDescriptor_t points_indices_desc,
                                                      void* points_indices);

/** All boxes each point is in, by the rule of mluOpExtPointsInBoxesPart.
 *
 *  @param points  T [B, M, 3], ARRAY.
 *  @param boxes   T [B, N, 7], ARRAY; z is the centre of the bottom.
 *  @param inside  INT32 [B, M, N], ARRAY: 1 where point m is in box n, else 0; overwritten.
 *  Dtypes, statuses and cost: those of mluOpPointsInBoxes. Source: mmcv's points_in_boxes_all. */
mluOpStatus_t MLUOP_WIN_API mluOpExtPointsInBoxesAll(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                                     const void* points, const mluOpTensorDescriptor_t boxes_desc,
                                                     const void* boxes, const mluOpTensorDescriptor_t inside_desc,
                                                     void* inside);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_POINTS_IN_BOXES_H_ */
