/* MsDeformAttn: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_MS_DEFORM_ATTN_H_
#define MLUOPS_OP_MS_DEFORM_ATTN_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Multi-scale deformable attention: each query sums bilinear samples of maps of several sizes, weighted.
 *
 *    col[b,q,m,:] = sum over levels l and points p of weight[b,q,m,l,p] sample(map l of value[b,:,m,:], y, x),
 *    x = loc[b,q,m,l,p,0] W_l - 1/2,  y = loc[b,q,m,l,p,1] H_l - 1/2;  a sample is 0 unless -1 < y < H_l and
 *    -1 < x < W_l, and pixels outside the map are 0.
 *
 *  @param data_value              T [B, S, M, D], ARRAY: S pixels of all maps, M heads, D channels.
 *  @param data_spatial_shapes     INT32 [L, 2], ARRAY: H_l, W_l.
 *  @param data_level_start_index  INT32 [L], ARRAY: the first pixel of each map. Maps that leave [0,S-1], negative
 *                                 sizes: BAD_PARAM.
 *  @param data_sampling_loc       T [B, Q, M, L, P, 2], ARRAY: x, y; 0 to 1 is the map.
 *  @param data_attn_weight        T [B, Q, M, L, P], ARRAY.
 *  @param im2col_step             min(B, im2col_step) > 0 divides B, else BAD_PARAM; else without effect.
 *  @param data_col                T [B, Q, M, D], ARRAY; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE and BFLOAT16. B, M, D or Q = 0: BAD_PARAM. S, L or P = 0: data_col is 0.
 *  Strided tensors: NOT_SUPPORTED. Cost: 4*B*Q*M*L*P*D multiply-adds.
 *  Source: Zhu et al., "Deformable DETR", ICLR 2021; mmcv's ms_deform_attn; docs/op/ms_deform_attn.md. */
mluOpStatus_t MLUOP_WIN_API
mluOpMsDeformAttnForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t data_value_desc, const void* data_value,
                         const mluOpTensorDescriptor_t data_spatial_shapes_desc, const void* data_spatial_shapes,
                         const mluOpTensorDescriptor_t data_level_start_index_desc, const void* data_level_start_index,
                         const mluOpTensorDescriptor_t data_sampling_loc_desc, const void* data_sampling_loc,
                         const mluOpTensorDescriptor_t data_attn_weight_desc, const void* data_attn_weight,
                         const int im2col_step, const mluOpTensorDescriptor_t data_col_desc, void* data_col);

/** Gradients of mluOpMsDeformAttnForward; that of value is a scatter-add.
 *
 *  @param value, spatial_shapes, level_start_index, sampling_loc, attn_weight, im2col_step  as in the forward call.
 *  @param grad_output        T [B, Q, M, D], ARRAY.
 *  @param grad_value         T [B, S, M, D], ARRAY; overwritten.
 *  @param grad_sampling_loc  T [B, Q, M, L, P, 2], ARRAY; overwritten.
 *  @param grad_attn_weight   T [B, Q, M, L, P], ARRAY; overwritten.
 *  The rest: that of mluOpMsDeformAttnForward. */
mluOpStatus_t MLUOP_WIN_API
mluOpMsDeformAttnBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t value_desc, const void* value,
                          const mluOpTensorDescriptor_t spatial_shapes_desc, const void* spatial_shapes,
                          const mluOpTensorDescriptor_t level_start_index_desc, const void* level_start_index,
                          const mluOpTensorDescriptor_t sampling_loc_desc, const void* sampling_loc,
                          const mluOpTensorDescriptor_t attn_weight_desc, const void* attn_weight,
                          const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
                          const int32_t im2col_step, const mluOpTensorDescriptor_t grad_value_desc, void* grad_value,
                          const mluOpTensorDescriptor_t grad_sampling_loc_desc, void* grad_sampling_loc,
                          const mluOpTensorDescriptor_t grad_attn_weight_desc, void* grad_attn_weight);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_MS_DEFORM_ATTN_H_ */
