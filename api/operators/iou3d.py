"""Overlaps of rotated boxes seen from above, and non-maximum suppression by them."""
from api.generate.describe import *

family("Overlaps of rotated boxes seen from above, and non-maximum suppression by them", "mmcv's iou3d.")

SAY = {"n": "boxes", "7": "numbers of a box"}

operator("boxes_overlap_bev", "mluOpExtBoxesOverlapBev", 33, doc="""The area that each of N boxes shares with each of M, seen from above.

  The corners of the polygon are the points where sides cross, and the corners of each box that lie in the other, or
  less than 0.01 outside it; in order round their mean. Each operation is rounded to float (double for DOUBLE);
  cosine, sine and the angles of the order are those of double, rounded. docs/op/iou3d.md has all of it.

overlap empty: SUCCESS, nothing written. Cost: N*M pairs, 7 flops where two boxes are far apart, some 10^3 where
not. Source: OpenPCDet's iou3d_nms, mmcv's boxes_overlap_bev.""", args="""
    in boxes_a T [n, 7] -- x, y, z, dx, dy, dz, rotation about z. z and dz are not looked at.
    in boxes_b T [m, 7]
    out overlap T [n, m]
    """,
    order="descs ranks sizes dtypes layouts dense done_if_empty(overlap) data overlap",
    shape="mluopsBoxesOverlapBevShape", keys="n m",
    say={**SAY, "n": "boxes_a", "m": "boxes_b"}, floats="FLOAT")

operator("nms3d", "mluOpExtNms3d", 34, doc="""Keeps each box whose IoU with every box kept before, seen from above, is not greater than a threshold.

  iou(a, b) = s / max(dx_a * dy_a + dx_b * dy_b - s, 1e-8), s their overlap: rotated 1, that of
  mluOpExtBoxesOverlapBev; rotated 0, that of the boxes without their rotation
  keep[0..K-1] = the indices of the boxes kept, in order; zeros behind; num_out = K

N = 0: num_out 0. Cost: at most N^2 / 2 pairs. Source: OpenPCDet's iou3d_nms, mmcv's nms3d and nms3d_normal.""", args="""
    in boxes T [n, 7] -- best first
    const float iou_threshold number
    const int rotated in 0..1
    out keep INT32 [n]
    count num_out
    """,
    order="numbers descs ranks sizes dtypes layouts dense indexable(boxes.0) data(boxes: boxes keep) counts overlap",
    shape="mluopsNms3dShape", keys="n iou=iou_threshold rotated",
    notes={'boxes': '[n,7], NULL where n = 0', 'keep': 'likewise'},
    say=SAY, floats="FLOAT")
