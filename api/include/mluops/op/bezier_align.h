/* BezierAlign: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_BEZIER_ALIGN_H_
#define MLUOPS_OP_BEZIER_ALIGN_H_

#include <stdbool.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Cuts the region between two cubic Bezier curves in PH x PW bins and takes the mean of bilinear samples of each.
 *
 *  Bin (i, j)'s place is on the line from the upper curve at j / PW to the lower one at j / PW, i / PH down; its
 * samples are a grid about it, as high and wide as the region's ends are apart over PH and PW.
 *
 *  @param input     T [B, H, W, C], NHWC; EXTENDED: also [B, C, H, W], NCHW, with output likewise.
 *  @param beziers   T [R, 17], ARRAY: batch index, x and y of the upper curve's four points, then of the lower one's
 * from right to left. A batch index outside [0, B-1]: BAD_PARAM.
 *  @param spatial_scale   multiplies the points.
 *  @param sampling_ratio  samples per axis and bin; 0: one for each started pixel. Below 0: BAD_PARAM, above 256:
 *                   NOT_SUPPORTED.
 *  @param aligned   true: points are moved by half a pixel; false: they are not, and a region is at least one pixel
 * wide and high.
 *  @param output    T [R, PH, PW, C]; overwritten. 0 for bins without samples.
 *  T: HALF, FLOAT; EXTENDED also DOUBLE, BFLOAT16; samples are placed in double. R, B, H, W or C = 0: SUCCESS, nothing
 *  written. Strided tensors: NOT_SUPPORTED. Cost: 8 flops a sample and channel. mluOp has no such operator.
 *  Source: Liu et al., "ABCNet", CVPR 2020; mmcv's bezier_align; docs/op/bezier_align.md. */
mluOpStatus_t MLUOP_WIN_API mluOpExtBezierAlignForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                       const void* input, const mluOpTensorDescriptor_t beziers_desc,
                                                       const void* beziers, const float spatial_scale,
                                                       const int sampling_ratio, const bool aligned,
                                                       const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradient of mluOpExtBezierAlignForward with respect to input (scatter-add).
 *
 *  @param grads        T [R, PH, PW, C], NHWC; EXTENDED: NCHW too.
 *  @param grads_image  T [B, H, W, C], in the layout of grads; overwritten, also where R = 0.
 *  The others as in the forward call. B, H, W or C = 0: SUCCESS, nothing written. */
mluOpStatus_t MLUOP_WIN_API mluOpExtBezierAlignBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                                        const void* grads, const mluOpTensorDescriptor_t beziers_desc,
                                                        const void* beziers, const float spatial_scale,
                                                        const int sampling_ratio, const bool aligned,
                                                        const mluOpTensorDescriptor_t grads_image_desc,
                                                        void* grads_image);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_BEZIER_ALIGN_H_ */
