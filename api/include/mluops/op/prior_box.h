/* PriorBox: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_PRIOR_BOX_H_
#define MLUOPS_OP_PRIOR_BOX_H_

#include <stdbool.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Makes the boxes of SSD: at every pixel of a map those of given sizes and aspect ratios, in the coordinates of the
 * image.
 *
 *  @param min_sizes      T [M], ARRAY, M >= 1.
 *  @param aspect_ratios  T [R], ARRAY, R >= 1.
 *  @param variances      T [4], ARRAY.
 *  @param max_sizes      T [M] or [0], ARRAY; the data may then be NULL.
 *  @param height, width  of the map, >= 0.
 *  @param im_height, im_width  of the image, >= 1: coordinates are divided by them.
 *  @param step_h, step_w  pixels of the image from one centre to the next, > 0.
 *  @param offset         of the first centre, in steps.
 *  @param clip           coordinates are clamped to [0, 1].
 *  @param min_max_aspect_ratios_order  false: of each min_size first a box for each ratio, then that of its max_size.
 * true: first its square, then that of its max_size, then those of the ratios but the first within 1e-6 of 1, for which
 * the square stands; without such a ratio the last one has no box.
 *  @param output         T [height, width, P, 4], ARRAY: x1, y1, x2, y2, where P = M R, plus M with max_sizes;
 * overwritten.
 *  @param var            T, the shape of output: variances, again and again; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16; boxes are computed in double. M, R or 4 of 0: BAD_PARAM. height or
 *  width 0: SUCCESS. Strided tensors: NOT_SUPPORTED. Cost: 8 numbers a box written. Source: Liu et al., "SSD", ECCV
 * 2016; Paddle's prior_box; docs/op/prior_box.md. */
mluOpStatus_t MLUOP_WIN_API mluOpPriorBox(mluOpHandle_t handle, const mluOpTensorDescriptor_t min_sizes_desc,
                                          const void* min_sizes, const mluOpTensorDescriptor_t aspect_ratios_desc,
                                          const void* aspect_ratios, const mluOpTensorDescriptor_t variances_desc,
                                          const void* variances, const mluOpTensorDescriptor_t max_sizes_desc,
                                          const void* max_sizes, const int height, const int width, const int im_height,
                                          const int im_width, const float step_h, const float step_w,
                                          const float offset, const bool clip, const bool min_max_aspect_ratios_order,
                                          const mluOpTensorDescriptor_t output_desc, void* output,
                                          const mluOpTensorDescriptor_t var_desc, void* var);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_PRIOR_BOX_H_ */
