/* RoiCrop: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_ROI_CROP_H_
#define MLUOPS_OP_ROI_CROP_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Bilinear samples of images at the points of grids.
 *
 *  A point y, x of a grid is the pixel (y + 1) (H - 1) / 2, (x + 1) (W - 1) / 2: -1 the first, 1 the last. Pixels
 *  outside the image count 0; a point that is NaN or infinite gives 0.
 *
 *  @param input   T [B, H, W, C], NHWC; EXTENDED: also NCHW, with output likewise.
 *  @param grid    T [G, OH, OW, 2], ARRAY: y, x. G is a multiple of B: the first G/B grids sample the first image.
 *  @param output  T [G, OH, OW, C]; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16, points in T's type of sums. Empty tensors: BAD_PARAM. Strided ones:
 *  NOT_SUPPORTED. Cost: 8 flops an element of output.
 *  Source: Jaderberg et al., "Spatial Transformer Networks", NIPS 2015; docs/op/roi_crop.md. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiCropForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                const void* input, const mluOpTensorDescriptor_t grid_desc,
                                                const void* grid, const mluOpTensorDescriptor_t output_desc,
                                                void* output);

/** Gradient of mluOpRoiCropForward with respect to input (scatter-add).
 *
 *  @param grad_output  T [G, OH, OW, C], NHWC; EXTENDED: NCHW too.
 *  @param grad_input   T [B, H, W, C], in the layout of grad_output; overwritten.
 *  The rest: that of mluOpRoiCropForward. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiCropBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                                 const void* grad_output, const mluOpTensorDescriptor_t grid_desc,
                                                 const void* grid, const mluOpTensorDescriptor_t grad_input_desc,
                                                 void* grad_input);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_ROI_CROP_H_ */
