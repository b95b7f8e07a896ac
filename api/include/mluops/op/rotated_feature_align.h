/* RotatedFeatureAlign: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_ROTATED_FEATURE_ALIGN_H_
#define MLUOPS_OP_ROTATED_FEATURE_ALIGN_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Adds to each pixel the features at its box: output = input + the sum of bilinear samples of input at the box's
 * points.
 *
 *  @param input          T [B, H, W, C], NHWC; EXTENDED: also [B, C, H, W], NCHW, with output likewise.
 *  @param bboxes         T [B, H, W, 5], ARRAY: y and x of the centre, width, height, angle in radians, of each pixel.
 *  @param spatial_scale  multiplies centres and sizes.
 *  @param points         1: the centre; 5: the corners too; else BAD_PARAM.
 *  @param output         T, like input; overwritten. A point more than a pixel off the map counts 0.
 *  T: HALF, FLOAT; EXTENDED also DOUBLE, BFLOAT16; points are placed in double. A size of 0: SUCCESS, nothing written.
 *  Strided tensors: NOT_SUPPORTED. Cost: 8 flops a point and channel. mluOp has no such operator.
 *  Source: Yang et al., "R3Det", AAAI 2021; mmcv's rotated_feature_align; docs/op/rotated_feature_align.md. */
mluOpStatus_t MLUOP_WIN_API mluOpExtRotatedFeatureAlignForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void* input,
    const mluOpTensorDescriptor_t bboxes_desc, const void* bboxes, const float spatial_scale, const int points,
    const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradient of mluOpExtRotatedFeatureAlignForward with respect to input (scatter-add).
 *
 *  @param grads        T [B, H, W, C], NHWC; EXTENDED: NCHW too.
 *  @param grads_image  T, like grads; overwritten.
 *  The others as in the forward call. */
mluOpStatus_t MLUOP_WIN_API mluOpExtRotatedFeatureAlignBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc, const void* grads,
    const mluOpTensorDescriptor_t bboxes_desc, const void* bboxes, const float spatial_scale, const int points,
    const mluOpTensorDescriptor_t grads_image_desc, void* grads_image);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_ROTATED_FEATURE_ALIGN_H_ */
