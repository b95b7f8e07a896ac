/* GetIndicePairs: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_GET_INDICE_PAIRS_H_
#define MLUOPS_OP_GET_INDICE_PAIRS_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Creates a descriptor of a sparse convolution; set it before use. NOT_INITIALIZED: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateSparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t* desc);

/** Sets a descriptor. Arrays have one number for each axis of space, slowest first.
 *
 *  @param dimNb         Axes of space and 2 more: 5; calls under EXTENDED take 4 and 6 too.
 *  @param batch         >= 1.
 *  @param pad           >= 0.
 *  @param stride        >= 1.
 *  @param dilation      >= 1.
 *  @param input_space   Size of the input's grid, >= 1.
 *  @param filter_space  Size of the filter, >= 1.
 *  @param output_space  Size of the output's grid, >= 1.
 *  @param sub_m         Not 0: submanifold, outputs where the inputs are.
 *  @param transpose     0; calls under EXTENDED take 1 too.
 *  @param inverse       0.
 *  BAD_PARAM: a pointer is NULL or a number is none of these; the descriptor stays what it was. */
mluOpStatus_t MLUOP_WIN_API mluOpSetSparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t sparse_conv_desc,
                                                                int dimNb, int batch, const int pad[],
                                                                const int stride[], const int dilation[],
                                                                const int input_space[], const int filter_space[],
                                                                const int output_space[], const int sub_m,
                                                                const int transpose, const int inverse);

/** How many outputs the last mluOpGetIndicePairs with this descriptor found. NOT_INITIALIZED: an argument is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSparseConvolutionNumActOut(mluOpSparseConvolutionDescriptor_t desc,
                                                               int* num_act_out);

/** Destroys a descriptor. EXECUTION_FAILED: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroySparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t desc);

/** Bytes of device memory that mluOpGetIndicePairs wants: five INT32 for each place of a pair; 0 where a tensor is
 *  empty. The arguments are those of the call. BAD_PARAM: workspace_size is NULL, and what BAD_PARAM is there. */
mluOpStatus_t MLUOP_WIN_API mluOpGetIndicePairsWorkspaceSize(mluOpHandle_t handle,
                                                             mluOpSparseConvolutionDescriptor_t sparse_conv_desc,
                                                             const mluOpTensorDescriptor_t indices_desc,
                                                             const mluOpTensorDescriptor_t indice_pairs_desc,
                                                             const mluOpTensorDescriptor_t out_indices_desc,
                                                             const mluOpTensorDescriptor_t indice_num_desc,
                                                             size_t* workspace_size);

/** Which inputs of a sparse convolution meet which outputs, for each offset of the filter.
 *
 *    Input i stands at indices[i] = (b, p...), output o at out_indices[o] = (b, q...). They are a pair for offset
 *    k = (k...), numbered row by row, where on each axis
 *        p + pad = q * stride + k * dilation         (transpose: q + pad = p * stride + k * dilation)
 *    and p and q are in their grids. sub_m: pad counts as filter_space / 2 and stride as 1.
 *    out_indices: the places that some input meets, in increasing order; sub_m: the rows of indices. Zeros behind.
 *    num_act_out: their number, for mluOpGetSparseConvolutionNumActOut.
 *    indice_num[k]                = number of pairs for k
 *    indice_pairs[k,0:2,0..n-1]   = their inputs and outputs, in increasing order of inputs; -1 behind.
 *    sub_m, several inputs at one place: the last of them is the output of all.
 *
 *  @param sparse_conv_desc  Set; a dilation other than 1 goes with a stride of 1. Receives num_act_out.
 *  @param indices           INT32 [L, axes + 1]. An input outside its grid or the batch has no pairs.
 *  @param workspace         workspace_size bytes; may be NULL when workspace_size is 0. The cpu backend leaves it
 * alone.
 *  @param workspace_size    As mluOpGetIndicePairsWorkspaceSize says, or less.
 *  @param indice_pairs      INT32 [K, 2, L], K <= 4096 the volume of the filter; overwritten.
 *  @param out_indices       INT32 [M, axes + 1]; overwritten. More outputs than M: NOT_SUPPORTED, nothing written.
 *  @param indice_num        INT32 [K]; overwritten.
 *  Any layout. A tensor empty: SUCCESS, num_act_out is 0, nothing else written. Strided tensors: NOT_SUPPORTED. STRICT:
 *  L and M are at most the places of their grids; sub_m wants stride and dilation 1. Cost: K*L look-ups.
 *  Source: mmcv's get_indice_pairs. */
mluOpStatus_t MLUOP_WIN_API mluOpGetIndicePairs(mluOpHandle_t handle,
                                                mluOpSparseConvolutionDescriptor_t sparse_conv_desc,
                                                const mluOpTensorDescriptor_t indices_desc, const void* indices,
                                                void* workspace, const size_t workspace_size,
                                                const mluOpTensorDescriptor_t indice_pairs_desc, void* indice_pairs,
                                                const mluOpTensorDescriptor_t out_indices_desc, void* out_indices,
                                                const mluOpTensorDescriptor_t indice_num_desc, void* indice_num);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_GET_INDICE_PAIRS_H_ */
