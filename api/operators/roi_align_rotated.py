"""RoiAlignRotated."""
from api.generate.describe import *

family("RoiAlignRotated", "mlu_op.h of mlu-ops.",
       letters={"pooled_height": "pooled_height", "pooled_width": "pooled_width"})

shape("mluopsRoiAlignRotatedShape",
      "batch, h, w, c; rois /* backward: may be 0 */; pooled_h, pooled_w; float spatial_scale /* >= 0 */; "
      "int32_t sample_ratio /* >= 0 */; int32_t aligned, clockwise /* 0 or 1 */")

SAY = {"rois": "the number of RoIs", "c": "the channels of the image", "6": "batch index, x, y, w, h, rotation"}

operator("roi_align_rotated_forward", "mluOpRoiAlignRotatedForward", 58, doc="""Cuts each rotated RoI in pooled_height x pooled_width bins and takes the mean of bilinear samples of each.

Samples are placed in double. R, B, H, W or C = 0: SUCCESS, nothing written. Cost: 8 flops a sample and channel.
Source: mmcv's roi_align_rotated, detectron2's ROIAlignRotated; docs/op/roi_align_rotated.md.""", args="""
    in features:input T image [batch, h, w, c]
    in rois T [rois, 6] -- batch index, x and y of the centre, width, height, rotation in radians
    const int pooled_height:pooled_h >= 1 -- bins of a RoI, > 0
    const int pooled_width:pooled_w >= 1 -- likewise
    const int sample_ratio >= 0 py=sampling_ratio -- samples per axis and bin; 0: ceil(RoI size / bins). Below 0:
        -- BAD_PARAM, above 256: NOT_SUPPORTED.
    const float spatial_scale >= 0 -- multiplies centres and sizes
    const bool aligned -- true: centres are moved by half a pixel; false: they are not, and RoIs are at least one pixel
        -- wide and high
    const bool clockwise -- the sense of positive rotations
    out output T image [rois, pooled_height, pooled_width, c] -- 0 for bins without samples
    """,
    order="descs numbers layouts ranks dtypes sizes(features rois output) dense done_if_empty(features output) data "
          "overlap batch_indices(rois)",
    keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale ratio=sample_ratio aligned clockwise",
    say=SAY)

operator("roi_align_rotated_backward", "mluOpRoiAlignRotatedBackward", 59, doc="""Gradient of mluOpRoiAlignRotatedForward with respect to features (scatter-add).

B, H, W or C = 0: SUCCESS, nothing written.""", args="""
    in top_grad:grad_output T image [rois, pooled_height, pooled_width, c]
    in rois T [rois, 6]
    const int pooled_height:pooled_h >= 1
    const int pooled_width:pooled_w >= 1
    const int sample_ratio >= 0 py=sampling_ratio
    const float spatial_scale >= 0
    const bool aligned
    const bool clockwise
    out bottom_grad:grad_input T image [batch, h, w, c] -- where R = 0 too
    """,
    order="descs numbers layouts ranks dtypes sizes(bottom_grad rois top_grad) dense done_if_empty(bottom_grad) "
          "data(bottom_grad) data(top_grad: top_grad rois) overlap batch_indices(rois)",
    keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale ratio=sample_ratio aligned clockwise",
    say=SAY, lead="bottom_grad")
