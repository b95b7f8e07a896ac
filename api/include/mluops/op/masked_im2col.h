/* MaskedIm2col and MaskedCol2im: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_MASKED_IM2COL_H_
#define MLUOPS_OP_MASKED_IM2COL_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Bytes of the workspace of mluOpMaskedIm2colForward: 0, it takes none.
 *  BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetMaskedIm2colForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t feature_desc, const mluOpTensorDescriptor_t mask_h_idx_desc,
    const mluOpTensorDescriptor_t mask_w_idx_desc, const int kernel_h, const int kernel_w,
    const mluOpTensorDescriptor_t data_col_desc, size_t* workspace_size);

/** Copies the windows of an image about chosen pixels into columns.
 *
 *    data_col[(c kernel_h + i) kernel_w + j, m] = feature[0, c, mask_h_idx[m] - pad_h + i, mask_w_idx[m] - pad_w + j]
 *
 *  and 0 where that is outside the image.
 *
 *  @param feature     T [1, C, H, W], NCHW; empty: BAD_PARAM.
 *  @param mask_h_idx  INT32 [M], ARRAY; any numbers.
 *  @param mask_w_idx  likewise.
 *  @param kernel_h    >= 1; kernel_w likewise.
 *  @param pad_h       any; pad_w likewise.
 *  @param workspace   not looked at, nor its size.
 *  @param data_col    T [C kernel_h kernel_w, M], ARRAY; overwritten.
 *  T: FLOAT, HALF; EXTENDED also DOUBLE, BFLOAT16. M = 0: SUCCESS, nothing written. Strided tensors: NOT_SUPPORTED.
 *  Cost: each element of data_col is written once. Source: mmcv's masked_conv2d. */
mluOpStatus_t MLUOP_WIN_API mluOpMaskedIm2colForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t feature_desc,
                                                     const void* feature, const mluOpTensorDescriptor_t mask_h_idx_desc,
                                                     const void* mask_h_idx,
                                                     const mluOpTensorDescriptor_t mask_w_idx_desc,
                                                     const void* mask_w_idx, const int kernel_h, const int kernel_w,
                                                     const int pad_h, const int pad_w, void* workspace,
                                                     const size_t workspace_size,
                                                     const mluOpTensorDescriptor_t data_col_desc, void* data_col);

/** Bytes of the workspace of mluOpMaskedCol2imForward: 0, it takes none.
 *  BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetMaskedCol2imForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t col_desc, const mluOpTensorDescriptor_t mask_h_idx_desc,
    const mluOpTensorDescriptor_t mask_w_idx_desc, const mluOpTensorDescriptor_t im_desc, size_t* workspace_size);

/** Puts columns at chosen pixels of an image that is 0 elsewhere.
 *
 *    im[0, c, mask_h_idx[m], mask_w_idx[m]] = col[c, m]
 *
 *  @param col         T [C, M], ARRAY.
 *  @param mask_h_idx  INT32 [M], ARRAY. A pixel outside the image is not written; of columns for one pixel the last is.
 *  @param mask_w_idx  likewise.
 *  @param workspace   not looked at, nor its size.
 *  @param im          T [1, C, H, W], NCHW; overwritten. Empty: BAD_PARAM.
 *  T: FLOAT, HALF; EXTENDED also DOUBLE, BFLOAT16. M = 0: im is 0. Strided tensors: NOT_SUPPORTED. Cost: each element
 *  of im is written once, each of col read once. Source: mmcv's masked_conv2d. */
mluOpStatus_t MLUOP_WIN_API mluOpMaskedCol2imForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t col_desc,
                                                     const void* col, const mluOpTensorDescriptor_t mask_h_idx_desc,
                                                     const void* mask_h_idx,
                                                     const mluOpTensorDescriptor_t mask_w_idx_desc,
                                                     const void* mask_w_idx, const size_t workspace_size,
                                                     void* workspace, const mluOpTensorDescriptor_t im_desc, void* im);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_MASKED_IM2COL_H_ */
