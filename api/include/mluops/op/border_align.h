/* BorderAlign: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_BORDER_ALIGN_H_
#define MLUOPS_OP_BORDER_ALIGN_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Maximum of pool_size+1 bilinear samples along each border of each box.
 *
 *  @param input       T [N, H, W, 4*C], NHWC; channel border*C+c, borders top, left, bottom, right.
 *  @param boxes       T [N, K, 4]: x1, y1, x2, y2; any K >= 1; inverted boxes are legal. Top and left start at
 *                     (x1,y1), bottom and right at (x2,y2) and run backwards.
 *  @param pool_size   samples per border less one, >= 1; 65536 or more: NOT_SUPPORTED.
 *  @param output      T [N, K, 4, C], NHWC; overwritten.
 *  @param argmax_idx  INT32 [N, K, 4, C], NHWC; sample index 0..pool_size of the first maximum; overwritten.
 *  Empty tensors: BAD_PARAM. Strided tensors: NOT_SUPPORTED.
 *  Source: Qiu et al., "BorderDet", ECCV 2020; border_align design document. */
mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                    const void* input, const mluOpTensorDescriptor_t boxes_desc,
                                                    const void* boxes, const int32_t pool_size,
                                                    const mluOpTensorDescriptor_t output_desc, void* output,
                                                    const mluOpTensorDescriptor_t argmax_idx_desc, void* argmax_idx);

/** Gradient of mluOpBorderAlignForward: scatters grad_output to the four neighbours of the winning sample.
 *
 *  @param grad_output  T [N, K, 4, C], NHWC.
 *  @param boxes        T [N, K, 4].
 *  @param argmax_idx   INT32 [N, K, 4, C], NHWC; values outside [0,pool_size] contribute nothing.
 *  @param grad_input   T [N, H, W, 4*C], NHWC; overwritten. Samples outside the map contribute nothing.
 *  Errors as in the forward call. */
mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignBackward(mluOpHandle_t handle,
                                                     const mluOpTensorDescriptor_t grad_output_desc,
                                                     const void* grad_output, const mluOpTensorDescriptor_t boxes_desc,
                                                     const void* boxes, const mluOpTensorDescriptor_t argmax_idx_desc,
                                                     const void* argmax_idx, const int32_t pool_size,
                                                     const mluOpTensorDescriptor_t grad_input_desc, void* grad_input);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_BORDER_ALIGN_H_ */
