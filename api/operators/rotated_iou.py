"""RotatedIou."""
from api.generate.describe import *

family("RotatedIou", letters={"pairs": "N", "numbers": "5 or 7"})

shape("mluopsRotatedIouShape", "count; numbers /* 5 or 7 */",
      "RotatedIou: boxes [count,numbers], ious [count].")

PAIRS = dict(
    lead="box1", floats="FLOAT", keys="b={1} n=count numbers", fill={"count": "batch * pairs"},
    say={"batch": "that of box1", "pairs": "that of box1"},
    rules={"of_box": rule("numbers == 5 || numbers == 7", "box1: wanted dimension 2 to be 7 (numbers of a box, or 5 of a "
                                                          "rectangle), got {numbers} in {shape_text(box1)}",
                           wrong="box1.2=6")},
    smallest={"numbers": 5})

operator("rotated_iou_forward", "mluOpExtRotatedIouForward", 84, doc="""IoU of rotated boxes one by one, that gradients flow through.

All of it is computed in double. B or N = 0: SUCCESS, nothing written. Cost: some 300 flops a pair. mluOp has no
such operator: its mluOpDiffIouRotatedSortVerticesForward is a step of one. Source: mmcv's diff_iou_rotated_2d and
diff_iou_rotated_3d; docs/op/rotated_iou.md.""", args="""
    in box1 T [batch, pairs, numbers] -- x, y, w, h, angle, rectangles; or of 7 numbers: x, y, z, w, h, l, angle, boxes
        -- rotated about z with z in their middle. Of a size below 0 its amount counts in the shared area. Angles in
        -- radians.
    in box2 T like box1 -- likewise
    out ious T [batch, pairs] -- 0 of boxes of no size
    """,
    order="descs ranks(box1) of_box ranks(ious) sizes dtypes(box1 box2) layouts(box1 box2) strides(box1 box2) "
          "countable(box1 box2) dtypes(ious) layouts(ious) strides(ious) countable(ious) done_if_empty(ious) data "
          "overlap",
    **PAIRS)

operator("rotated_iou_backward", "mluOpExtRotatedIouBackward", 85, doc="""Gradients of mluOpExtRotatedIouForward with respect to both boxes. Where sides lie on each other, the mean of the
derivatives in both directions.""", args="""
    in grad_ious T [batch, pairs] py=grad
    in box1 T [batch, pairs, numbers]
    in box2 T like box1
    out grad_box1 T like box1 py=grads1
    out grad_box2 T like box1 py=grads2
    """,
    order="descs ranks(box1) of_box ranks(grad_ious) sizes dtypes(box1 grad_ious box2) layouts(box1 grad_ious box2) "
          "strides(box1 grad_ious box2) countable(box1 grad_ious box2) dtypes(grad_box1 grad_box2) layouts(grad_box1 grad_box2) "
          "strides(grad_box1 grad_box2) countable(grad_box1 grad_box2) done_if_empty(grad_box1 grad_box2) data overlap",
    **PAIRS)
