/* DiffIouRotated: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_DIFF_IOU_ROTATED_H_
#define MLUOPS_OP_DIFF_IOU_ROTATED_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** The corners of the intersection of two rectangles, in order round it.
 *
 *    Vertices 0 to 7 are the rectangles' corners, 8 to 23 intersections of their sides; a vertex is valid where mask is
 *    not 0. pad: the first of 8 to 23 that is not valid, 23 where all are.
 *    n = num_valid[b,n]; less than 3: idx = pad nine times. Else n, cut to 8, valid vertices in order, the first again,
 *    and pad in the rest. Vertex j + 1 is the least of the valid ones greater than vertex j, the first of equals, 0 if
 *    there is none; (1, -1e-8) is greater than all. (x, y) is less than (x', y') where
 *        y > 0 > y', or y, y' > 0 and |x| x / (x x + y y + 1e-8) - the same of (x', y') > 1e-8,
 *        or y, y' < 0 and that difference < 1e-8; never where both coordinates differ by less than 1e-8.
 *    n = 8 and all of the first four again among the next four: idx = the first four, the first again, pad four times.
 *
 *  @param vertices   FLOAT [B, N, 24, 2]: x and y, their mean at (0, 0). EXTENDED: also HALF, DOUBLE
 *                   and BFLOAT16.
 *  @param mask       BOOL [B, N, 24].
 *  @param num_valid  INT32 [B, N]: the numbers of valid vertices.
 *  @param idx        INT32 [B, N, 9]; overwritten.
 *  Any layout. N = 0: SUCCESS, nothing written; B = 0: BAD_PARAM. Strided tensors: NOT_SUPPORTED. Every operation is
 *  rounded to float, of DOUBLE to double. Cost: up to 8 * 24 comparisons a pair of rectangles.
 *  Source: mmcv's diff_iou_rotated_sort_vertices_forward. */
mluOpStatus_t MLUOP_WIN_API mluOpDiffIouRotatedSortVerticesForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t vertices_desc, const void* vertices,
    const mluOpTensorDescriptor_t mask_desc, const void* mask, const mluOpTensorDescriptor_t num_valid_desc,
    const void* num_valid, const mluOpTensorDescriptor_t idx_desc, void* idx);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_DIFF_IOU_ROTATED_H_ */
