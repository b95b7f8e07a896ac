"""BezierAlign."""
from api.generate.describe import *

family("BezierAlign", "mmcv's bezier_align.")

shape("mluopsBezierAlignShape", "batch, h, w, c; rois /* backward: may be 0 */; pooled_h, pooled_w; float spatial_scale; "
      "int32_t sampling_ratio /* >= 0 */; int32_t aligned /* 0 or 1 */")

SAY = {"rois": "the number of beziers", "c": "the channels of the image", "17": "batch index, x and y of eight points"}

operator("bezier_align_forward", "mluOpExtBezierAlignForward", 76, doc="""Cuts the region between two cubic Bezier curves in PH x PW bins and takes the mean of bilinear samples of each.

Bin (i, j)'s place is on the line from the upper curve at j / PW to the lower one at j / PW, i / PH down; its
samples are a grid about it, as high and wide as the region's ends are apart over PH and PW.

Samples are placed in double. R, B, H, W or C = 0: SUCCESS, nothing written. Cost: 8 flops a sample and channel.
mluOp has no such operator. Source: Liu et al., "ABCNet", CVPR 2020; mmcv's bezier_align; docs/op/bezier_align.md.""", args="""
    in input T image [batch, h, w, c]
    in beziers T [rois, 17] -- batch index, x and y of the upper curve's four points, then of the lower one's from
        -- right to left
    const float spatial_scale -- multiplies the points
    const int sampling_ratio >= 0 -- samples per axis and bin; 0: one for each started pixel. Below 0: BAD_PARAM, above
        -- 256: NOT_SUPPORTED.
    const bool aligned -- true: points are moved by half a pixel; false: they are not, and a region is at least one
        -- pixel wide and high
    out output T image [rois, pooled_h, pooled_w, c] -- 0 for bins without samples
    """,
    order="descs numbers layouts ranks dtypes sizes(input beziers output) dense done_if_empty(input output) data "
          "overlap batch_indices(beziers)",
    keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale ratio=sampling_ratio aligned",
    say=SAY)

operator("bezier_align_backward", "mluOpExtBezierAlignBackward", 77, doc="""Gradient of mluOpExtBezierAlignForward with respect to input (scatter-add).

B, H, W or C = 0: SUCCESS, nothing written.""", args="""
    in grad_output T image [rois, pooled_h, pooled_w, c]
    in beziers T [rois, 17]
    const float spatial_scale
    const int sampling_ratio >= 0
    const bool aligned
    out grad_input T image [batch, h, w, c] -- where R = 0 too
    """,
    order="descs numbers layouts ranks dtypes sizes(grad_input beziers grad_output) dense done_if_empty(grad_input) "
          "data(grad_input) data(grad_output: grad_output beziers) overlap batch_indices(grad_output: beziers)",
    keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale ratio=sampling_ratio aligned",
    say=SAY, lead="grad_input",
    fill={"rois": "is_empty(grad_output) ? 0 : rois"})
