/* PrRoIPool: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_PRROI_POOL_H_
#define MLUOPS_OP_PRROI_POOL_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Cuts each RoI in PH x PW bins and takes the mean of each over the bilinear surface through the pixels of the map, 0
 *  outside of it: an integral over the bin's area, no samples.
 *
 *    output[r,i,j,c] = sum over pixels of input[y,x,c] * shares of the bin's rows [i,y] * shares of its columns [j,x] /
 *                      area; a share is the integral over the bin of the hat max(0, 1 - |t - pixel|)
 *
 *  @param input          T [B, H, W, C], NHWC; EXTENDED: also [B, C, H, W], NCHW, with output likewise.
 *  @param rois           T [R, 5], ARRAY: batch index, x1, y1, x2, y2. A batch index outside [0, B-1]: BAD_PARAM.
 *  @param spatial_scale  multiplies the corners.
 *  @param output         T [R, PH, PW, C]; overwritten. 0 for a RoI without area or finite corners.
 *  T: HALF, FLOAT; EXTENDED also DOUBLE, BFLOAT16; shares are found in double. R, B, H, W or C = 0: SUCCESS, nothing
 *  written. Strided tensors: NOT_SUPPORTED. Cost: 2 flops a pixel of a bin and channel. mluOp has no such operator.
 *  Source: Jiang et al., "Acquisition of Localization Confidence", ECCV 2018; mmcv's prroi_pool; docs/op/prroi_pool.md.
 */
mluOpStatus_t MLUOP_WIN_API mluOpExtPrRoiPoolForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                     const void* input, const mluOpTensorDescriptor_t rois_desc,
                                                     const void* rois, const float spatial_scale,
                                                     const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradients of mluOpExtPrRoiPoolForward with respect to input (scatter-add) and to rois.
 *
 *  @param grads        T [R, PH, PW, C], NHWC; EXTENDED: NCHW too.
 *  @param input        T [B, H, W, C], in the layout of grads: that of the forward call.
 *  @param grads_image  T, like input; overwritten, also where R = 0. Absent: descriptor and data NULL.
 *  @param grads_rois   T [R, 5], ARRAY; overwritten; 0 for the batch index and for a RoI without area. May be absent,
 *                      but not both. The others as in the forward call. B, H, W or C = 0: SUCCESS, nothing written. */
mluOpStatus_t MLUOP_WIN_API mluOpExtPrRoiPoolBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                                      const void* grads, const mluOpTensorDescriptor_t input_desc,
                                                      const void* input, const mluOpTensorDescriptor_t rois_desc,
                                                      const void* rois, const float spatial_scale,
                                                      const mluOpTensorDescriptor_t grads_image_desc, void* grads_image,
                                                      const mluOpTensorDescriptor_t grads_rois_desc, void* grads_rois);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_PRROI_POOL_H_ */
