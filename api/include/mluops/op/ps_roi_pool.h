/* PsRoiPool: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_PS_ROI_POOL_H_
#define MLUOPS_OP_PS_ROI_POOL_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Cuts each RoI in PH x PW bins and takes the mean of the pixels of each, every bin from channels of its own.
 *
 *  Bin j of the columns has the pixels [floor(x1 + j w/PW), ceil(x1 + (j+1) w/PW)), cut to the map, where
 *  x1 = round(rois[r,1]) spatial_scale and w = max((round(rois[r,3]) + 1) spatial_scale - x1, 0.1); rows likewise.
 *  round() takes halves away from zero. Element d of bin i, j is the mean of channel (d PH + i) PW + j.
 *
 *  @param pooled_height    PH.
 *  @param pooled_width     PW = PH; EXTENDED: any.
 *  @param spatial_scale    > 0.
 *  @param group_size       PH.
 *  @param output_dim       D >= 1.
 *  @param input            T [B, H, W, D PH PW], NHWC; EXTENDED: also NCHW, with the other 4-D tensors likewise.
 *  @param rois             T [R, 5]: batch index, x1, y1, x2, y2. A batch index outside [0,B-1]: BAD_PARAM.
 *  @param output           T [R, PH, PW, D]; 0 for a bin without pixels; overwritten.
 *  @param mapping_channel  INT32, like output: the channel each element is a mean of; overwritten. Descriptor and data
 *                          NULL: not wanted.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16. B, H, W = 0: SUCCESS, nothing written. R = 0: BAD_PARAM; EXTENDED:
 *  SUCCESS. Strided tensors: NOT_SUPPORTED. Cost: an addition for each pixel of each bin and channel.
 *  Source: Dai et al., "R-FCN", NIPS 2016; docs/op/ps_roi_pool.md. */
mluOpStatus_t MLUOP_WIN_API mluOpPsRoiPoolForward(mluOpHandle_t handle, const int pooled_height, const int pooled_width,
                                                  const float spatial_scale, const int group_size, const int output_dim,
                                                  const mluOpTensorDescriptor_t input_desc, const void* input,
                                                  const mluOpTensorDescriptor_t rois_desc, const void* rois,
                                                  const mluOpTensorDescriptor_t output_desc, void* output,
                                                  const mluOpTensorDescriptor_t mapping_channel_desc,
                                                  void* mapping_channel);

/** Gradient of mluOpPsRoiPoolForward with respect to input (scatter-add).
 *
 *  @param top_grad         T [R, PH, PW, D], NHWC; EXTENDED: NCHW too.
 *  @param mapping_channel  INT32, like top_grad: the channel each element goes to; outside [0, D PH PW - 1]: to none.
 *                          Descriptor and data NULL: those of mluOpPsRoiPoolForward.
 *  @param bottom_grad      T [B, H, W, D PH PW], in the layout of top_grad; overwritten.
 *  R = 0: BAD_PARAM; EXTENDED: bottom_grad is 0. B, H, W = 0: SUCCESS, nothing written. The rest: that of
 *  mluOpPsRoiPoolForward. The same bits for every number of threads. */
mluOpStatus_t MLUOP_WIN_API mluOpPsRoiPoolBackward(mluOpHandle_t handle, const int pooled_height,
                                                   const int pooled_width, const float spatial_scale,
                                                   const int output_dim, const mluOpTensorDescriptor_t top_grad_desc,
                                                   const void* top_grad, const mluOpTensorDescriptor_t rois_desc,
                                                   const void* rois, const mluOpTensorDescriptor_t mapping_channel_desc,
                                                   const void* mapping_channel,
                                                   const mluOpTensorDescriptor_t bottom_grad_desc, void* bottom_grad);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_PS_ROI_POOL_H_ */
