/* Correlation: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_CORRELATION_H_
#define MLUOPS_OP_CORRELATION_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Sums of products of windows of one image with displaced windows of another.
 *
 *    output[n,p,q,y,x] = sum over i, j of the window and channels c of
 *        input1[n,u,v,c] * input2[n, u + (p - max_displacement) dilation_patch_h,
 *                                    v + (q - max_displacement) dilation_patch_w, c],
 *    u = y stride_h - pad_h + i dilation_h, v likewise; a pixel off either image counts 0
 *
 *  @param input1,input2  T [N, H, W, C], NHWC; EXTENDED: also [N, C, H, W], NCHW.
 *  @param kernel_h,kernel_w,stride_h,stride_w,dilation_h,dilation_w,dilation_patch_h,dilation_patch_w  >= 1.
 *  @param max_displacement,pad_h,pad_w  >= 0.
 *  @param output         T [N, P, P, Ho, Wo], ARRAY; P = 2 max_displacement + 1, Ho and Wo those of a convolution;
 *                        overwritten.
 *  T: HALF, FLOAT; EXTENDED also DOUBLE, BFLOAT16. N, H, W or C = 0: SUCCESS, nothing written. Strided tensors:
 *  NOT_SUPPORTED. Cost: 2 flops for each channel, pixel of the window and output. mluOp has no such operator.
 *  Source: Dosovitskiy et al., "FlowNet", ICCV 2015; mmcv's correlation; docs/op/correlation.md. */
mluOpStatus_t MLUOP_WIN_API mluOpExtCorrelationForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input1_desc,
                                                       const void* input1, const mluOpTensorDescriptor_t input2_desc,
                                                       const void* input2, const int kernel_h, const int kernel_w,
                                                       const int max_displacement, const int stride_h,
                                                       const int stride_w, const int pad_h, const int pad_w,
                                                       const int dilation_h, const int dilation_w,
                                                       const int dilation_patch_h, const int dilation_patch_w,
                                                       const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradients of mluOpExtCorrelationForward with respect to both images.
 *
 *  @param grads   T [N, P, P, Ho, Wo], ARRAY.
 *  @param grads1,grads2  T, like input1; overwritten.
 *  The others as in the forward call. */
mluOpStatus_t MLUOP_WIN_API mluOpExtCorrelationBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc, const void* grads,
    const mluOpTensorDescriptor_t input1_desc, const void* input1, const mluOpTensorDescriptor_t input2_desc,
    const void* input2, const int kernel_h, const int kernel_w, const int max_displacement, const int stride_h,
    const int stride_w, const int pad_h, const int pad_w, const int dilation_h, const int dilation_w,
    const int dilation_patch_h, const int dilation_patch_w, const mluOpTensorDescriptor_t grads1_desc, void* grads1,
    const mluOpTensorDescriptor_t grads2_desc, void* grads2);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_CORRELATION_H_ */
