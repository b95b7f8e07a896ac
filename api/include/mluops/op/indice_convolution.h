/* IndiceConvolution: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_INDICE_CONVOLUTION_H_
#define MLUOPS_OP_INDICE_CONVOLUTION_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Bytes of device memory that mluOpIndiceConvolutionForward wants: a row of inputs and one of outputs for each pair of
 *  the offset with most of them, and the outputs once more.
 *
 *  The arguments are those of the call. BAD_PARAM: size is NULL, and what BAD_PARAM is there. */
mluOpStatus_t MLUOP_WIN_API mluOpGetIndiceConvolutionForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t features_out_desc,
    const int64_t indice_num[], const int64_t num_act_out, const int64_t inverse, const int64_t sub_m, size_t* size);

/** A convolution over the pairs that mluOpGetIndicePairs found.
 *
 *    features_out[o,:] = sum over k and the pairs (i, o) of k of  features[i,:] * filters[k]     (zeros without pairs)
 *    The pairs of k are indice_pairs[k,0,p], indice_pairs[k,1,p], p < indice_num[k]; inverse: outputs stand in [k,0,:],
 *    inputs in [k,1,:]. A pair with an index outside its tensor counts nothing.
 *
 *  @param features       T [L, Ci].
 *  @param filters        T, layout ARRAY: [D, H, W, Ci, Co]; NDHWC: [Co, D, H, W, Ci]; NCDHW: [Co, Ci, D, H, W];
 *                        EXTENDED also two or four axes of space: ARRAY, and NHWC, NCHW, HWCN.
 *  @param indice_pairs   INT32 [K, 2, L], K = D*H*W; inverse: any number of places.
 *  @param indice_num     K numbers of pairs in the host's memory, each at most the places of indice_pairs.
 *  @param num_act_out    Dimension 0 of features_out.
 *  @param inverse        0; EXTENDED: or 1.
 *  @param sub_m          0 or 1; without effect.
 *  @param workspace      workspace_size bytes; may be NULL when workspace_size is 0. The cpu backend leaves it alone.
 *  @param features_out   T [num_act_out, Co]; overwritten.
 *  T: HALF, FLOAT; EXTENDED also DOUBLE and BFLOAT16. A tensor empty: SUCCESS, nothing written. Strided tensors:
 *  NOT_SUPPORTED. Cost: 2*Ci*Co flops a pair. Source: Yan et al., "SECOND", 2018; mmcv's indice_conv. */
mluOpStatus_t MLUOP_WIN_API mluOpIndiceConvolutionForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void* features,
    const mluOpTensorDescriptor_t filters_desc, const void* filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void* indice_pairs, const int64_t indice_num[], const int64_t num_act_out, const int64_t inverse,
    const int64_t sub_m, void* workspace, size_t workspace_size, const mluOpTensorDescriptor_t features_out_desc,
    void* features_out);

/** Bytes of device memory that mluOpIndiceConvolutionBackwardData wants: a row of each gradient for each pair of the
 *  offset with most of them, filters and input_grad once more.
 *
 *  The arguments are those of the call. BAD_PARAM: workspace_size is NULL, and what BAD_PARAM is there. */
mluOpStatus_t MLUOP_WIN_API mluOpGetIndiceConvolutionBackwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t input_grad_desc,
    const int64_t indice_num[], const int64_t inverse, size_t* workspace_size);

/** Gradient of mluOpIndiceConvolutionForward in features.
 *
 *    input_grad[i,:] = sum over k and the pairs (i, o) of k of  output_grad[o,:] * transpose of filters[k]
 *
 *  @param output_grad   T [M, Co].
 *  @param filters       As in the forward function; NHWC, NCHW and HWCN (two axes of space) under STRICT too.
 *  @param indice_pairs  As in the forward function.
 *  @param indice_num    Likewise.
 *  @param inverse       Likewise.
 *  @param sub_m         0 or 1. 1: M equals L; STRICT: K is odd and no offset has more pairs than the middle one.
 *  @param input_grad    T [L, Ci]; overwritten.
 *  T, empty and strided tensors: as in the forward function. STRICT: no offset has more than M pairs. */
mluOpStatus_t MLUOP_WIN_API mluOpIndiceConvolutionBackwardData(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const void* output_grad,
    const mluOpTensorDescriptor_t filters_desc, const void* filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void* indice_pairs, const int64_t indice_num[], const int64_t inverse, const int64_t sub_m, void* workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t input_grad_desc, void* input_grad);

/** Bytes of device memory that mluOpIndiceConvolutionBackwardFilter wants: a row of inputs and one of outputs for each
 *  pair of the offset with most of them, and filters_grad once more.
 *
 *  The arguments are those of the call. BAD_PARAM: size is NULL, and what BAD_PARAM is there. */
mluOpStatus_t MLUOP_WIN_API mluOpGetIndiceConvolutionBackwardFilterWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t output_grad_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t filters_grad_desc,
    const int64_t indice_num[], const int64_t inverse, const int64_t sub_m, size_t* size);

/** Gradient of mluOpIndiceConvolutionForward in filters.
 *
 *    filters_grad[k] = sum over the pairs (i, o) of k of  transpose of features[i,:] * output_grad[o,:]
 *
 *  @param features      T [L, Ci].
 *  @param output_grad   T [M, Co].
 *  @param indice_pairs  As in the forward function.
 *  @param indice_num    Likewise.
 *  @param inverse       Likewise; STRICT: 1 is BAD_PARAM.
 *  @param sub_m         0 or 1; without effect.
 *  @param filters_grad  T, shapes and layouts of filters in mluOpIndiceConvolutionBackwardData; overwritten.
 *  T, empty and strided tensors: as in the forward function. */
mluOpStatus_t MLUOP_WIN_API mluOpIndiceConvolutionBackwardFilter(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void* features,
    const mluOpTensorDescriptor_t output_grad_desc, const void* output_grad,
    const mluOpTensorDescriptor_t indice_pairs_desc, const void* indice_pairs, const int64_t indice_num[],
    const int64_t inverse, const int64_t sub_m, void* workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t filters_grad_desc, void* filters_grad);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_INDICE_CONVOLUTION_H_ */
