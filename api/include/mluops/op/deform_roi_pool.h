/* DeformRoiPool: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_DEFORM_ROI_POOL_H_
#define MLUOPS_OP_DEFORM_ROI_POOL_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Deformable RoI pooling: each RoI is cut in pooled_height x pooled_width bins, each bin is the mean of
 *  bilinear samples, and `offset` shifts every bin by gamma * RoI size * offset.
 *
 *  @param input           T [B, H, W, C], NHWC.
 *  @param rois            T [R, 5]: batch index, x1, y1, x2, y2. A batch index outside [0,B-1]: BAD_PARAM.
 *  @param offset          T [R, 2, pooled_height, pooled_width] (plane 0 = x, 1 = y), any layout; or NULL with a
 *                         NULL descriptor.
 *  @param pooled_height,pooled_width  bins per RoI, > 0.
 *  @param spatial_scale   multiplies RoI corners; 0.5 is then subtracted.
 *  @param sampling_ratio  samples per axis and bin; <= 0 means ceil(RoI size / bins), none for an empty RoI.
 *  @param gamma           scale of offset.
 *  @param output          T [R, pooled_height, pooled_width, C], NHWC; overwritten.
 *  H or W = 0: SUCCESS, nothing written; other empty tensors: BAD_PARAM. Strided tensors: NOT_SUPPORTED.
 *  Source: Dai et al., "Deformable ConvNets", ICCV 2017; deform_roi_pool design document. */
mluOpStatus_t MLUOP_WIN_API mluOpDeformRoiPoolForward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void* input,
    const mluOpTensorDescriptor_t rois_desc, const void* rois, const mluOpTensorDescriptor_t offset_desc,
    const void* offset, const int pooled_height, const int pooled_width, const float spatial_scale,
    const int sampling_ratio, const float gamma, const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradients of mluOpDeformRoiPoolForward. grad_offset uses the unclamped sample coordinates
 * (docs/op/deform_roi_pool.md).
 *
 *  @param grad_output  T [R, pooled_height, pooled_width, C], NHWC.
 *  @param input,rois,offset,...  as in the forward call.
 *  @param grad_input   T [B, H, W, C], NHWC; overwritten.
 *  @param grad_offset  T [R, 2, pooled_height, pooled_width]; overwritten; NULL (with its descriptor) exactly when
 *                      offset is.
 *  Errors as in the forward call. */
mluOpStatus_t MLUOP_WIN_API mluOpDeformRoiPoolBackward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
    const mluOpTensorDescriptor_t input_desc, const void* input, const mluOpTensorDescriptor_t rois_desc,
    const void* rois, const mluOpTensorDescriptor_t offset_desc, const void* offset, const int pooled_height,
    const int pooled_width, const float spatial_scale, const int sampling_ratio, const float gamma,
    const mluOpTensorDescriptor_t grad_input_desc, void* grad_input, const mluOpTensorDescriptor_t grad_offset_desc,
    void* grad_offset);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_DEFORM_ROI_POOL_H_ */
