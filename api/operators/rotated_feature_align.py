"""RotatedFeatureAlign."""
from api.generate.describe import *

family("RotatedFeatureAlign", "mmcv's rotated_feature_align.")

ALIGN = dict(
    notes={"points": "1 or 5"}, keys="b=batch h w c scale=spatial_scale points",
    say={"batch": "the number of images", "h": "the height of the images", "w": "the width of the images",
         "5": "y, x, width, height, angle"},
    rules={"one_or_five": rule("points == 1 || points == 5", "points: wanted 1 or 5, got {points}", wrong="points=2")})

operator("rotated_feature_align_forward", "mluOpExtRotatedFeatureAlignForward", 78, doc="""Adds to each pixel the features at its box: output = input + the sum of bilinear samples of input at the box's
points.

Points are placed in double. A size of 0: SUCCESS, nothing written. Cost: 8 flops a point and channel. Source: Yang
et al., "R3Det", AAAI 2021; mmcv's rotated_feature_align; docs/op/rotated_feature_align.md.""", args="""
    in input T image [batch, h, w, c] py=features
    in bboxes T [batch, h, w, 5] py=best_rbboxes -- y and x of the centre, width, height, angle in radians, of each
        -- pixel
    const float spatial_scale -- multiplies centres and sizes
    const int points -- 1: the centre; 5: the corners too; else BAD_PARAM
    out output T like input -- a point more than a pixel off the map counts 0
    """,
    order="descs one_or_five layouts ranks dtypes sizes(input bboxes output) dense done_if_empty(input) data "
          "overlap",
    **ALIGN)

operator("rotated_feature_align_backward", "mluOpExtRotatedFeatureAlignBackward", 79, doc="""Gradient of mluOpExtRotatedFeatureAlignForward with respect to input (scatter-add).""", args="""
    in grad_output T image [batch, h, w, c]
    in bboxes T [batch, h, w, 5] py=best_rbboxes
    const float spatial_scale
    const int points
    out grad_input T like grad_output
    """,
    order="descs one_or_five layouts ranks dtypes sizes(grad_output bboxes grad_input) dense done_if_empty(grad_output) data "
          "overlap",
    **ALIGN)

VENDOR = dict(ALIGN, no_numpy=True, rules={**ALIGN["rules"], "scale": rule(
    "spatial_scale.value > 0", "spatial_scale: wanted > 0, got {spatial_scale.value}")})

operator("rotated_feature_align_forward", "mluOpRotatedFeatureAlignForward", 78, doc="""mluOpExtRotatedFeatureAlignForward by the vendor's name and rules: spatial_scale <= 0 or an empty tensor is BAD_PARAM.""", args="""
    in input T image [batch, h, w, c]
    in bboxes T [batch, h, w, 5]
    const float spatial_scale
    const int points
    out output T like input
    """,
    order="descs one_or_five scale layouts ranks dtypes sizes(input bboxes output) dense not_empty(input) data overlap",
    check="rotated_feature_align_vendor_forward", handle="const mluOpHandle_t handle", **VENDOR)

operator("rotated_feature_align_backward", "mluOpRotatedFeatureAlignBackward", 79, doc="""mluOpExtRotatedFeatureAlignBackward by the vendor's name and rules.""", args="""
    in top_output:grad_output T image [batch, h, w, c]
    in bboxes T [batch, h, w, 5]
    const float spatial_scale
    const int points
    out bottom_input:grad_input T like top_output
    """,
    order="descs one_or_five scale layouts ranks dtypes sizes(top_output bboxes bottom_input) dense not_empty(top_output) data "
          "overlap",
    check="rotated_feature_align_vendor_backward", handle="const mluOpHandle_t handle", **VENDOR)
