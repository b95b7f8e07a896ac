/* CARAFE: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_CARAFE_H_
#define MLUOPS_OP_CARAFE_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Creates a CARAFE descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateCarafeDescriptor(mluOpCarafeDescriptor_t* carafe_desc);

/** Sets dimNb (must be 4), kernel_size K (odd, >= 1), group_size G >= 1, scale_factor s >= 1.
 *  BAD_PARAM: carafe_desc NULL or a value out of range; then nothing is stored. */
mluOpStatus_t MLUOP_WIN_API mluOpSetCarafeDescriptor(mluOpCarafeDescriptor_t carafe_desc, const int dimNb,
                                                     const int kernel_size, const int group_size,
                                                     const int scale_factor);

/** Destroys a CARAFE descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyCarafeDescriptor(mluOpCarafeDescriptor_t carafe_desc);

/** Content-aware upsampling: output pixel = K x K taps of the input pixel below it, weighted by its own mask.
 *
 *    output[n,y,x,c] = sum over kh,kw of mask[n,y,x,(g*K+kh)*K+kw] * input[n, y/s+kh-r, x/s+kw-r, c],
 *    g = c / (C/G), r = (K-1)/2; taps outside the map are skipped.
 *
 *  @param carafe_desc  K, G, s. STRICT: K <= 45 and s <= 5, else NOT_SUPPORTED.
 *  @param input        T [N, H, W, C], NHWC; C divisible by G.
 *  @param mask         T [N, s*H, s*W, G*K*K], NHWC.
 *  @param output       T [N, s*H, s*W, C], NHWC; overwritten.
 *  Empty tensors: SUCCESS, nothing written. Strided tensors: BAD_PARAM. Cost: 2*N*s*H*s*W*K*K*C flops.
 *  Source: Wang et al., "CARAFE", ICCV 2019; CARAFE design document. */
mluOpStatus_t MLUOP_WIN_API mluOpCarafeForward(mluOpHandle_t handle, const mluOpCarafeDescriptor_t carafe_desc,
                                               const mluOpTensorDescriptor_t input_desc, const void* input,
                                               const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                               const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradients of mluOpCarafeForward.
 *
 *  @param carafe_desc  K, G, s. STRICT: K <= 137, else NOT_SUPPORTED.
 *  @param input        T [N, H, W, C], NHWC.
 *  @param mask         T [N, s*H, s*W, G*K*K], NHWC.
 *  @param grad_output  T [N, s*H, s*W, C], NHWC.
 *  @param grad_input   T [N, H, W, C], NHWC; overwritten.
 *  @param grad_mask    T [N, s*H, s*W, G*K*K], NHWC; overwritten, exactly 0 for taps outside the map.
 *  Empty tensors: SUCCESS, nothing written. Strided tensors: NOT_SUPPORTED. Cost: 4*N*s*H*s*W*K*K*C flops.
 *  Source: as mluOpCarafeForward. */
mluOpStatus_t MLUOP_WIN_API mluOpCarafeBackward(mluOpHandle_t handle, const mluOpCarafeDescriptor_t carafe_desc,
                                                const mluOpTensorDescriptor_t input_desc, const void* input,
                                                const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                                const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
                                                const mluOpTensorDescriptor_t grad_input_desc, void* grad_input,
                                                const mluOpTensorDescriptor_t grad_mask_desc, void* grad_mask);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_CARAFE_H_ */
