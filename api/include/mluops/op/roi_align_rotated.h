/* RoiAlignRotated: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_ROI_ALIGN_ROTATED_H_
#define MLUOPS_OP_ROI_ALIGN_ROTATED_H_

#include <stdbool.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Cuts each rotated RoI in pooled_height x pooled_width bins and takes the mean of bilinear samples of each.
 *
 *  @param features  T [B, H, W, C], NHWC; EXTENDED: also [B, C, H, W], NCHW, with output likewise.
 *  @param rois      T [R, 6], ARRAY: batch index, x and y of the centre, width, height, rotation in radians. A batch
 *                   index outside [0, B-1]: BAD_PARAM.
 *  @param pooled_height,pooled_width  bins of a RoI, > 0.
 *  @param sample_ratio   samples per axis and bin; 0: ceil(RoI size / bins). Below 0: BAD_PARAM, above 256:
 *                   NOT_SUPPORTED.
 *  @param spatial_scale  multiplies centres and sizes, >= 0.
 *  @param aligned   true: centres are moved by half a pixel; false: they are not, and RoIs are at least one pixel wide
 *                   and high.
 *  @param clockwise the sense of positive rotations.
 *  @param output    T [R, pooled_height, pooled_width, C]; overwritten. 0 for bins without samples.
 *  T: HALF, FLOAT; EXTENDED also DOUBLE, BFLOAT16; samples are placed in double. R, B, H, W or C = 0: SUCCESS, nothing
 *  written. Strided tensors: NOT_SUPPORTED. Cost: 8 flops a sample and channel.
 *  Source: mmcv's roi_align_rotated, detectron2's ROIAlignRotated; docs/op/roi_align_rotated.md. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignRotatedForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void* features,
    const mluOpTensorDescriptor_t rois_desc, const void* rois, const int pooled_height, const int pooled_width,
    const int sample_ratio, const float spatial_scale, const bool aligned, const bool clockwise,
    const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradient of mluOpRoiAlignRotatedForward with respect to features (scatter-add).
 *
 *  @param top_grad     T [R, pooled_height, pooled_width, C], NHWC; EXTENDED: NCHW too.
 *  @param bottom_grad  T [B, H, W, C], in the layout of top_grad; overwritten, also where R = 0.
 *  The others as in the forward call. B, H, W or C = 0: SUCCESS, nothing written. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignRotatedBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t top_grad_desc, const void* top_grad,
    const mluOpTensorDescriptor_t rois_desc, const void* rois, const int pooled_height, const int pooled_width,
    const int sample_ratio, const float spatial_scale, const bool aligned, const bool clockwise,
    const mluOpTensorDescriptor_t bottom_grad_desc, void* bottom_grad);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_ROI_ALIGN_ROTATED_H_ */
