/* PSAMask: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_PSAMASK_H_
#define MLUOPS_OP_PSAMASK_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Point-wise spatial attention mask: lays the h_mask x w_mask mask of every pixel over the feature map.
 *
 *    for (n,h,w) and every mask cell (i,j) whose target (th,tw) = (h+i-(h_mask-1)/2, w+j-(w_mask-1)/2) is in the map:
 *    psa_type 0 (collect):    y[n, h, w, th*W+tw]   = x[n, h, w, i*w_mask+j]
 *    psa_type 1 (distribute): y[n, th, tw, h*W+w]   = x[n, h, w, i*w_mask+j];  all other y are 0.
 *
 *  @param psa_type  0 or 1, else BAD_PARAM.
 *  @param x         FLOAT [N, H, W, h_mask*w_mask], NHWC.
 *  @param h_mask,w_mask  mask size, even sizes allowed; negative: BAD_PARAM.
 *  @param y         FLOAT [N, H, W, H*W], NHWC; overwritten.
 *  Empty x: SUCCESS, nothing written. Strided tensors: BAD_PARAM. Cost: one pass over x and y.
 *  Source: Zhao et al., "PSANet", ECCV 2018; psamask design document. */
mluOpStatus_t MLUOP_WIN_API mluOpPsamaskForward(mluOpHandle_t handle, const int psa_type,
                                                const mluOpTensorDescriptor_t x_desc, const void* x, const int h_mask,
                                                const int w_mask, const mluOpTensorDescriptor_t y_desc, void* y);

/** Gradient of mluOpPsamaskForward: dx gathers the dy its cell was copied to; uncovered cells get 0.
 *
 *  @param dy  FLOAT [N, H, W, H*W], NHWC.
 *  @param dx  FLOAT [N, H, W, h_mask*w_mask], NHWC; overwritten.
 *  Empty dy: SUCCESS, nothing written. Otherwise as mluOpPsamaskForward. */
mluOpStatus_t MLUOP_WIN_API mluOpPsamaskBackward(mluOpHandle_t handle, const int psa_type,
                                                 const mluOpTensorDescriptor_t dy_desc, const void* dy,
                                                 const int h_mask, const int w_mask,
                                                 const mluOpTensorDescriptor_t dx_desc, void* dx);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_PSAMASK_H_ */
