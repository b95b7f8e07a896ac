/* RoiPooling: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_ROI_POOL_H_
#define MLUOPS_OP_ROI_POOL_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Ways to pool. */
typedef enum {
  MLUOP_POOLING_MAX = 0,
  MLUOP_POOLING_AVERAGE_COUNT_INCLUDE_PADDING = 1,
  MLUOP_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING = 2,
  MLUOP_POOLING_FIXED = 3,
} mluOpPoolingMode_t;

/** Cuts each RoI in PH x PW bins and takes the greatest pixel of each.
 *
 *  Bin j of the columns has the pixels [floor(x1 + j w/PW), ceil(x1 + (j+1) w/PW)), cut to the map, where
 *  x1 = rois[r,1] spatial_scale and x1 + w = (rois[r,3] + 1) spatial_scale; rows likewise.
 *
 *  @param pooling_mode   MAX, else BAD_PARAM.
 *  @param input          T [B, H, W, C], NHWC; EXTENDED: also [B, C, H, W], NCHW, with the other 4-D tensors likewise.
 *  @param rois           T [R, 5]: batch index, x1, y1, x2, y2. A batch index outside [0,B-1]: BAD_PARAM.
 *  @param spatial_scale  in (0,1], else BAD_PARAM; EXTENDED: any number.
 *  @param output         T [R, PH, PW, C]; a bin without pixels is 0, one without a number above -FLT_MAX is -FLT_MAX;
 *                        overwritten.
 *  @param argmax         INT32, like output: y * W + x of the first greatest pixel, -1 where there is none;
 *                        overwritten. NULL: not wanted.
 *  R, B, H, W or C = 0: SUCCESS, nothing written. PH or PW = 0: BAD_PARAM. Strided tensors, H*W >= 2^31: NOT_SUPPORTED.
 *  Source: Girshick, "Fast R-CNN", ICCV 2015; mmcv's roi_pool; docs/op/roi_pool.md. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiPoolingForward(mluOpHandle_t handle, mluOpPoolingMode_t pooling_mode,
                                                   const mluOpTensorDescriptor_t input_desc, const void* input,
                                                   const mluOpTensorDescriptor_t rois_desc, const void* rois,
                                                   float spatial_scale, const mluOpTensorDescriptor_t output_desc,
                                                   void* output, int* argmax);

/** Gradient of mluOpRoiPoolingForward with respect to input (scatter-add).
 *
 *  @param grads        T [R, PH, PW, C], NHWC; EXTENDED: NCHW too.
 *  @param argmax       INT32, like grads; outside [0,H*W-1]: adds to nothing.
 *  @param grads_image  T [B, H, W, C], in the layout of grads; overwritten, also where R = 0.
 *  B, H, W or C = 0: SUCCESS, nothing written. The rest: that of mluOpRoiPoolingForward. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiPoolingBackward(mluOpHandle_t handle, mluOpPoolingMode_t pooling_mode,
                                                    const mluOpTensorDescriptor_t grads_desc, const void* grads,
                                                    const mluOpTensorDescriptor_t rois_desc, const void* rois,
                                                    const mluOpTensorDescriptor_t argmax_desc, const int* argmax,
                                                    const float spatial_scale,
                                                    const mluOpTensorDescriptor_t grads_image_desc, void* grads_image);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_ROI_POOL_H_ */
