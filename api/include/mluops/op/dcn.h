/* Deformable convolution (DCN): part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_DCN_H_
#define MLUOPS_OP_DCN_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct mluOpDCNStruct* mluOpDCNDescriptor_t;

/** Creates an empty descriptor. BAD_PARAM: NULL. ALLOC_FAILED. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateDCNDescriptor(mluOpDCNDescriptor_t* dcn_desc);
/** Destroys a descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyDCNDescriptor(mluOpDCNDescriptor_t dcn_desc);

/** Sets the form of a deformable convolution.
 *
 *  @param dimNb             4, the dimensions of the images.
 *  @param pad               [4]: rows above and below, columns left and right of the map, >= 0.
 *  @param stride            [2]: rows, columns from an output pixel to the next, >= 1.
 *  @param dilation          [2]: rows, columns from a tap of the filter to the next, >= 1.
 *  @param deformable_group  parts of the input channels, each with offsets and masks of its own, >= 1.
 *  @param conv_group        parts of the input and output channels that are convolved by themselves, >= 1.
 *  @param im2col_step       images worked on together, >= 1; without effect but that it divides the batch.
 *  @param compute_type      FLOAT.
 *  BAD_PARAM: dcn_desc, pad, stride or dilation NULL, and what is not as above. */
mluOpStatus_t MLUOP_WIN_API mluOpSetDCNDescriptor(mluOpDCNDescriptor_t dcn_desc, int dimNb, const int pad[],
                                                  const int stride[], const int dilation[], int deformable_group,
                                                  int conv_group, int im2col_step, const mluOpDataType_t compute_type);

/** Bytes of device memory that mluOpDCNForward wants: 0, it works in memory of the handle.
 *
 *  The arguments are those of the call. BAD_PARAM: workspace_size is NULL, and what BAD_PARAM is there. */
mluOpStatus_t MLUOP_WIN_API mluOpGetDCNForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t filter_desc, const mluOpTensorDescriptor_t bias_desc,
    const mluOpTensorDescriptor_t output_desc, size_t* workspace_size);

/** Deformable convolution: a convolution whose taps are bilinear samples at learnt places (v1), weighted (v2).
 *
 *    output[n,y,x,o] = bias[o] + sum over taps k = (i, j) and the channels c of o's group of
 *                      filter[o,i,j,c] * mask[n,y,x,g,k] * sample(input[n,:,:,c], v, u),
 *    v = y * stride_h - pad_top + i * dilation_h + offset[n,y,x,g,k,0],
 *    u = x * stride_w - pad_left + j * dilation_w + offset[n,y,x,g,k,1],  g the deformable group of c;
 *    a sample is 0 unless -1 < v < H and -1 < u < W, and pixels outside the map are 0.
 *
 *  @param input   T [N, H, W, Ci], NHWC; EXTENDED: also [N, Ci, H, W], NCHW, with the other 4-D tensors likewise.
 *  @param offset  T [N, Ho, Wo, G * Kh * Kw * 2]: of each deformable group and tap the rows, then the columns.
 *  @param mask    T [N, Ho, Wo, G * Kh * Kw]; NULL with a NULL descriptor: 1 (v1).
 *  @param filter  T [Co, Kh, Kw, Ci / conv_group].
 *  @param bias    T [Co], ARRAY; NULL with a NULL descriptor: 0.
 *  @param workspace, workspace_size  without effect; workspace_size > 0 with workspace NULL: BAD_PARAM.
 *  @param output  T [N, Ho, Wo, Co], Ho = (H + pad_top + pad_bottom - dilation_h * (Kh - 1) - 1) / stride_h + 1, Wo
 *                 likewise; overwritten.
 *  T: HALF, FLOAT; EXTENDED also DOUBLE and BFLOAT16. An empty tensor: BAD_PARAM. Strided tensors: NOT_SUPPORTED.
 *  STRICT: im2col_step * Ho * Wo * Kh * Kw * Ci < 2^31, else NOT_SUPPORTED.
 *  Cost: N*Ho*Wo*Kh*Kw*Ci*(4 + Co/conv_group) multiply-adds.
 *  Source: Dai et al., "Deformable Convolutional Networks", ICCV 2017; Zhu et al., "Deformable ConvNets v2", CVPR 2019;
 *  docs/op/dcn.md. */
mluOpStatus_t MLUOP_WIN_API mluOpDCNForward(mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc,
                                            const mluOpTensorDescriptor_t input_desc, const void* input,
                                            const mluOpTensorDescriptor_t offset_desc, const void* offset,
                                            const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                            const mluOpTensorDescriptor_t filter_desc, const void* filter,
                                            const mluOpTensorDescriptor_t bias_desc, const void* bias, void* workspace,
                                            size_t workspace_size, const mluOpTensorDescriptor_t output_desc,
                                            void* output);

/** Bytes of device memory that mluOpDCNBackwardWeight wants: 0, it works in memory of the handle.
 *
 *  The arguments are those of the call. BAD_PARAM: workspace_size is NULL, and what BAD_PARAM is there. */
mluOpStatus_t MLUOP_WIN_API mluOpGetDCNBackwardWeightWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t grad_output_desc, const mluOpTensorDescriptor_t grad_filter_desc,
    const mluOpTensorDescriptor_t grad_bias_desc, size_t* workspace_size);

/** Gradients of mluOpDCNForward in filter and bias.
 *
 *  @param input, offset, mask, workspace, workspace_size  as in the forward call.
 *  @param grad_output  T, like output.
 *  @param grad_filter  T, like filter; overwritten.
 *  @param grad_bias    T [Co], ARRAY; overwritten. NULL with a NULL descriptor: not wanted.
 *  The same bits for every number of threads. Types, sizes and statuses as in the forward call. */
mluOpStatus_t MLUOP_WIN_API mluOpDCNBackwardWeight(mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc,
                                                   const mluOpTensorDescriptor_t input_desc, const void* input,
                                                   const mluOpTensorDescriptor_t offset_desc, const void* offset,
                                                   const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                                   const mluOpTensorDescriptor_t grad_output_desc,
                                                   const void* grad_output, void* workspace, size_t workspace_size,
                                                   const mluOpTensorDescriptor_t grad_filter_desc, void* grad_filter,
                                                   const mluOpTensorDescriptor_t grad_bias_desc, void* grad_bias);

/** Bytes of device memory that mluOpDCNBackwardData wants: 0, it works in memory of the handle. The name is the
 *  vendor's, letter by letter.
 *
 *  The arguments are those of the call. BAD_PARAM: workspace_size is NULL, and what BAD_PARAM is there. */
mluOpStatus_t MLUOP_WIN_API mluOpGetDCNBakcwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t filter_desc, const mluOpTensorDescriptor_t grad_output_desc,
    const mluOpTensorDescriptor_t grad_input_desc, const mluOpTensorDescriptor_t grad_offset_desc,
    const mluOpTensorDescriptor_t grad_mask_desc, size_t* workspace_size);

/** Gradients of mluOpDCNForward in input (a scatter-add), offset and mask.
 *
 *  @param input, offset, mask, filter, workspace, workspace_size  as in the forward call.
 *  @param grad_output  T, like output.
 *  @param grad_input   T, like input; overwritten.
 *  @param grad_offset  T, like offset; overwritten. A sample outside the map has gradient 0; one on a pixel has the
 * slope towards greater coordinates.
 *  @param grad_mask    T, like mask; overwritten. NULL with a NULL descriptor exactly where mask is.
 *  The same bits for every number of threads. Types, sizes and statuses as in the forward call. */
mluOpStatus_t MLUOP_WIN_API mluOpDCNBackwardData(mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc,
                                                 const mluOpTensorDescriptor_t input_desc, const void* input,
                                                 const mluOpTensorDescriptor_t offset_desc, const void* offset,
                                                 const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                                 const mluOpTensorDescriptor_t filter_desc, const void* filter,
                                                 const mluOpTensorDescriptor_t grad_output_desc,
                                                 const void* grad_output, void* workspace, const size_t workspace_size,
                                                 const mluOpTensorDescriptor_t grad_input_desc, void* grad_input,
                                                 const mluOpTensorDescriptor_t grad_offset_desc, void* grad_offset,
                                                 const mluOpTensorDescriptor_t grad_mask_desc, void* grad_mask);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_DCN_H_ */
