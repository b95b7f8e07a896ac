"""PsRoiPool."""
from api.generate.describe import *

family("PsRoiPool", "mlu_op.h of mlu-ops.", letters={"channels": "D PH PW", "output_dim": "D"})

shape("mluopsPsRoiPoolShape",
      "batch, h, w; rois /* backward: may be 0 */; pooled_h, pooled_w, output_dim; float spatial_scale",
      "Fewer than 2^31 channels.")

POOLS = dict(
    say={"rois": "the number of RoIs", "5": "batch index, x1, y1, x2, y2",
         "channels": "pooled_height * pooled_width * output_dim"},
    derive={"bins": "pooled_height * pooled_width", "channels": "bins * output_dim"}, floats="FLOAT")


def rules(image):
    return {"square": rule("pooled_width == pooled_height", "pooled_width: wanted pooled_height ({pooled_height}), got "
                                                            "{pooled_width}", strict=True),
            "few": rule("bins <= 2147483647 / output_dim", image + ": wanted at most 2147483647 channels", "NOT_SUPPORTED"),
            "given": rule("is_empty(" + image + ") || !is_empty(args.rois)",
                          "rois: wanted a non-empty tensor, got {shape_text(args.rois)}", strict=True),
            "group": rule("group_size == pooled_height",
                          "group_size: wanted >= {pooled_height} and <= {pooled_height}, got {group_size}")}

operator("ps_roi_pool_forward", "mluOpPsRoiPoolForward", 60, doc="""Cuts each RoI in PH x PW bins and takes the mean of the pixels of each, every bin from channels of its own.

Bin j of the columns has the pixels [floor(x1 + j w/PW), ceil(x1 + (j+1) w/PW)), cut to the map, where
x1 = round(rois[r,1]) spatial_scale and w = max((round(rois[r,3]) + 1) spatial_scale - x1, 0.1); rows likewise.
round() takes halves away from zero. Element d of bin i, j is the mean of channel (d PH + i) PW + j.

B, H, W = 0: SUCCESS, nothing written. R = 0: BAD_PARAM; EXTENDED: SUCCESS. Cost: an addition for each pixel of
each bin and channel. Source: Dai et al., "R-FCN", NIPS 2016; docs/op/ps_roi_pool.md.""", args="""
    const int pooled_height:pooled_h >= 1
    const int pooled_width:pooled_w >= 1 -- = PH; EXTENDED: any
    const float spatial_scale > 0
    const int group_size -- PH
    const int output_dim >= 1
    in input T image [batch, h, w, channels]
    in rois T [rois, 5] -- batch index, x1, y1, x2, y2
    out output T image [rois, pooled_height, pooled_width, output_dim] -- 0 for a bin without pixels
    out? mapping_channel INT32 image [rois, pooled_height, pooled_width, output_dim]
        -- the channel each element is a mean of. Descriptor and data NULL: not wanted.
    """,
    order="descs(input rois output) both_unless_empty(mapping_channel) numbers square layouts(input) ranks(input) "
          "layouts(rois) ranks(rois) layouts(output) ranks(output) sizes(rois output) dtypes(input output rois) few "
          "sizes(input) dense(input rois output) layouts(mapping_channel) ranks(mapping_channel) "
          "sizes(mapping_channel) dtypes(mapping_channel) dense(mapping_channel) given group "
          "done_if_empty(input output) data overlap batch_indices(rois)",
    keys="b=batch h w d=output_dim r=rois ph=pooled_h pw=pooled_w scale=spatial_scale mapping={p.mapping_channel != nullptr ? 1 : 0}",
    notes={'mapping_channel': 'may be NULL'},
    rules=rules("input"), **POOLS, fixed={"group_size": "pooled_height"})

operator("ps_roi_pool_backward", "mluOpPsRoiPoolBackward", 61, doc="""Gradient of mluOpPsRoiPoolForward with respect to input (scatter-add).

R = 0: BAD_PARAM; EXTENDED: bottom_grad is 0. B, H, W = 0: SUCCESS, nothing written. Bitwise equal for every number of
threads.""", args="""
    const int pooled_height:pooled_h >= 1
    const int pooled_width:pooled_w >= 1
    const float spatial_scale > 0
    const int output_dim >= 1
    in top_grad:grad_output T image [rois, pooled_height, pooled_width, output_dim]
    in rois T [rois, 5]
    in? mapping_channel INT32 image [rois, pooled_height, pooled_width, output_dim]
        -- the channel each element goes to; outside [0, D PH PW - 1]: to none. Descriptor and data NULL: those of
        -- mluOpPsRoiPoolForward.
    out bottom_grad:grad_input T image [batch, h, w, channels]
    """,
    order="descs(bottom_grad rois top_grad) both_unless_empty(mapping_channel) numbers square layouts(bottom_grad) "
          "ranks(bottom_grad) layouts(rois) ranks(rois) layouts(top_grad) ranks(top_grad) sizes(rois top_grad) "
          "dtypes(bottom_grad top_grad rois) few sizes(bottom_grad) dense(bottom_grad rois top_grad) "
          "layouts(mapping_channel) ranks(mapping_channel) sizes(mapping_channel) dtypes(mapping_channel) "
          "dense(mapping_channel) given done_if_empty(bottom_grad) data(bottom_grad) data(top_grad: top_grad rois) "
          "overlap batch_indices(rois)",
    keys="b=batch h w d=output_dim r=rois ph=pooled_h pw=pooled_w scale=spatial_scale mapping={p.mapping_channel != nullptr ? 1 : 0}",
    notes={'mapping_channel': 'arbitrary: outside the channels adds to nothing; NULL: what the forward wrote'},
    rules=rules("bottom_grad"), lead="bottom_grad", **POOLS)
