"""MsDeformAttn."""
from api.generate.describe import *

family("MsDeformAttn", "mluOpMsDeformAttnForward and Backward of MLU-OPS 1.11.", hooks="""
/// Maps lie among the pixels of value. Reads the data.
Status check_levels(const TensorArg& value, const TensorArg& spatial_shapes, const TensorArg& level_start_index);
""", letters={"keys": "S", "channels": "D", "points": "P"})

shape("mluopsMsDeformAttnShape", "batch, keys, heads, channels, levels, queries, points",
      "keys, levels and points may be 0, the pointers of empty tensors NULL. Every level lies inside of "
      "[0,keys). Locations are arbitrary.")

ATTENTION = dict(
    keys=None, floats="FLOAT", derive={"step": "std::min<std::int64_t>(batch, im2col_step)"},
    say={"spatial_shapes.2": "height and width", "data_spatial_shapes.2": "height and width", "2": "x and y",
         "levels": "the levels of spatial_shapes", "batch": "the batch", "queries": "the queries", "heads": "the heads",
         "points": "the points", "channels": "the channels"},
    rules={"divides": rule("step > 0 && batch % step == 0", "im2col_step: wanted > 0 and, where it is less than the batch, "
                           "{batch}, a divisor of it, got {im2col_step}")})

operator("ms_deform_attn_forward", "mluOpMsDeformAttnForward", 43, doc="""Multi-scale deformable attention: each query sums bilinear samples of maps of several sizes, weighted.

  col[b,q,m,:] = sum over levels l and points p of weight[b,q,m,l,p] sample(map l of value[b,:,m,:], y, x),
  x = loc[b,q,m,l,p,0] W_l - 1/2,  y = loc[b,q,m,l,p,1] H_l - 1/2;  a sample is 0 unless -1 < y < H_l and
  -1 < x < W_l, and pixels outside the map are 0.

B, M, D or Q = 0: BAD_PARAM. S, L or P = 0: data_col is 0. Cost: 4*B*Q*M*L*P*D multiply-adds. Source: Zhu et al.,
"Deformable DETR", ICLR 2021; mmcv's ms_deform_attn; docs/op/ms_deform_attn.md.""", args="""
    in data_value:value T any [batch, keys, heads, channels] -- S pixels of all maps, M heads, D channels
    in data_spatial_shapes:spatial_shapes INT32 [levels, 2] py=value_spatial_shapes -- H_l, W_l
    in data_level_start_index:level_start_index INT32 [levels] py=value_level_start_index
        -- the first pixel of each map. Maps that leave [0,S-1], negative sizes: BAD_PARAM.
    in data_sampling_loc:sampling_loc T any [batch, queries, heads, levels, points, 2] py=sampling_locations
        -- x, y; 0 to 1 is the map
    in data_attn_weight:attn_weight T any [batch, queries, heads, levels, points] py=attention_weights
    const int im2col_step -- min(B, im2col_step) > 0 divides B, else BAD_PARAM; else without effect
    out data_col:output T any [batch, queries, heads, channels]
    """,
    order="descs layouts ranks dtypes sizes dense not_empty(data_col) divides data_where_needed "
          "hook(check_levels data_value data_spatial_shapes data_level_start_index) overlap",
    bind={"queries": "data_col", "points": "data_attn_weight"}, **ATTENTION)

operator("ms_deform_attn_backward", "mluOpMsDeformAttnBackward", 44, doc="""Gradients of mluOpMsDeformAttnForward; that of value is a scatter-add.""", args="""
    in value T any [batch, keys, heads, channels]
    in spatial_shapes INT32 [levels, 2] py=value_spatial_shapes
    in level_start_index INT32 [levels] py=value_level_start_index
    in sampling_loc T any [batch, queries, heads, levels, points, 2] py=sampling_locations
    in attn_weight T any [batch, queries, heads, levels, points] py=attention_weights
    in grad_output T any [batch, queries, heads, channels]
    const int32_t im2col_step
    out grad_value T any like value
    out grad_sampling_loc T any like sampling_loc
    out grad_attn_weight T any like attn_weight
    """,
    order="descs layouts(value spatial_shapes level_start_index sampling_loc attn_weight grad_output) "
          "ranks(value spatial_shapes level_start_index sampling_loc attn_weight grad_output) "
          "dtypes(value spatial_shapes level_start_index sampling_loc attn_weight grad_output) "
          "sizes(value spatial_shapes level_start_index sampling_loc attn_weight grad_output) "
          "dense(value spatial_shapes level_start_index sampling_loc attn_weight grad_output) "
          "not_empty(grad_output) divides layouts(grad_value) ranks(grad_value) dtypes(grad_value) "
          "sizes(grad_value) strides(grad_value) layouts(grad_sampling_loc) ranks(grad_sampling_loc) "
          "dtypes(grad_sampling_loc) sizes(grad_sampling_loc) strides(grad_sampling_loc) layouts(grad_attn_weight) "
          "ranks(grad_attn_weight) dtypes(grad_attn_weight) sizes(grad_attn_weight) strides(grad_attn_weight) "
          "data_where_needed hook(check_levels value spatial_shapes level_start_index) overlap",
    bind={"queries": "grad_output", "points": "attn_weight"}, **ATTENTION)
