/* RoiAlign: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_ROI_ALIGN_H_
#define MLUOPS_OP_ROI_ALIGN_H_

#include <stdbool.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct mluOpRoiAlignStruct* mluOpRoiAlignForwardDescriptor_t;

/** Creates an empty descriptor. BAD_PARAM: NULL. ALLOC_FAILED. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateRoiAlignForwardDescriptor(mluOpRoiAlignForwardDescriptor_t* desc);
/** Destroys a descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyRoiAlignForwardDescriptor(mluOpRoiAlignForwardDescriptor_t desc);

/** Sets how boxes are pooled.
 *
 *  @param pooled_height,pooled_width  bins of a box, > 0.
 *  @param sampling_ratio  samples per axis and bin; <= 0 means ceil(box size / bins), none for an empty box.
 *  @param spatial_scale   multiplies box corners.
 *  @param pool_mode       0: a bin is its greatest sample; 1: the mean of its samples.
 *  @param aligned         true: half a pixel is subtracted from the scaled corners; false: it is not, and boxes are at
 *                         least one pixel wide and high.
 *  BAD_PARAM: roialign_desc NULL, a pooled size <= 0, pool_mode not 0 or 1. */
mluOpStatus_t MLUOP_WIN_API mluOpSetRoiAlignForwardDescriptor_v2(mluOpRoiAlignForwardDescriptor_t roialign_desc,
                                                                 const int pooled_height, const int pooled_width,
                                                                 const int sampling_ratio, const float spatial_scale,
                                                                 const int pool_mode, const bool aligned);

/** Cuts each box in pooled_height x pooled_width bins and pools bilinear samples of the input in each.
 *
 *  @param input     T [B, H, W, C], NHWC; EXTENDED: also [B, C, H, W], NCHW, with the other 4-D tensors likewise.
 *  @param boxes     T [R, 5]: batch index, x1, y1, x2, y2. A batch index outside [0,B-1]: BAD_PARAM.
 *  @param output    T [R, pooled_height, pooled_width, C]; overwritten.
 *  @param argmax_x,argmax_y  T, like output: pool_mode 0: where the greatest sample is, -1 for a bin without samples;
 *                   overwritten. pool_mode 1: NULL with NULL descriptors, or not looked at.
 *  R, B, H, W or C = 0: SUCCESS, nothing written. Strided tensors: NOT_SUPPORTED.
 *  Source: He et al., "Mask R-CNN", ICCV 2017; mmcv's roi_align; docs/op/roi_align.md. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignForward_v2(mluOpHandle_t handle,
                                                    const mluOpRoiAlignForwardDescriptor_t roialign_desc,
                                                    const mluOpTensorDescriptor_t input_desc, const void* input,
                                                    const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                                    const mluOpTensorDescriptor_t output_desc, void* output,
                                                    const mluOpTensorDescriptor_t argmax_x_desc, void* argmax_x,
                                                    const mluOpTensorDescriptor_t argmax_y_desc, void* argmax_y);

/** Gradient of the mean (pool_mode 1); mluOpRoiAlignBackward_v2 without argmax. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignBackward(mluOpHandle_t handle, const float spatial_scale,
                                                  const int sampling_ratio, const bool aligned,
                                                  const mluOpTensorDescriptor_t grads_desc, const void* grads,
                                                  const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                                  const mluOpTensorDescriptor_t grads_image_desc, void* grads_image);

/** Gradient of mluOpRoiAlignForward_v2 with respect to input (scatter-add).
 *
 *  @param grads        T [R, pooled_height, pooled_width, C], NHWC; EXTENDED: NCHW too.
 *  @param boxes        T [R, 5], as in the forward call.
 *  @param argmax_x,argmax_y  pool_mode 0: as the forward call gave them; pool_mode 1: NULL, or not looked at.
 *  @param spatial_scale,sampling_ratio,aligned,pool_mode  as in the forward call.
 *  @param grads_image  T [B, H, W, C], in the layout of grads; overwritten, also where R = 0.
 *  B, H, W or C = 0: SUCCESS, nothing written. Other errors as in the forward call. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignBackward_v2(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                                     const void* grads, const mluOpTensorDescriptor_t boxes_desc,
                                                     const void* boxes, const mluOpTensorDescriptor_t argmax_x_desc,
                                                     const void* argmax_x, const mluOpTensorDescriptor_t argmax_y_desc,
                                                     const void* argmax_y, const float spatial_scale,
                                                     const int sampling_ratio, const bool aligned, const int pool_mode,
                                                     const mluOpTensorDescriptor_t grads_image_desc, void* grads_image);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_ROI_ALIGN_H_ */
