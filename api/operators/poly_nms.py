"""PolyNms."""
from api.generate.describe import *

family("PolyNms", "mlu_op.h of mlu-ops.")

shape("mluopsPolyNmsShape", "n", "n < 2^31.")

getter("mluOpGetPolyNmsWorkspaceSize", "poly_nms", "boxes",
       "handle desc_pointers(boxes) size ranks(boxes) sizes(boxes)", size="size")

SAY = {"n": "boxes", "9": "x and y of four corners, score"}

operator("poly_nms", "mluOpPolyNms", 67, doc="""Keeps each quadrilateral, best score first, whose IoU with every one kept before is not greater than a threshold.

IoUs are computed in double. Two quadrilaterals without area have the IoU 1, as on the device; one with a corner
that is not finite shares nothing. Cost: at most N^2 / 2 pairs. Source: AerialDetection's poly_nms;
docs/op/poly_nms.md.""", args="""
    in boxes T [n, 9] py=dets -- x and y of the four corners, in turn either way round, and the score. NaN counts as
        -- the best score; equal ones are taken in order.
    const float iou_threshold number
    workspace
    out output INT32 [n] -- the indices of those kept, ascending, zeros behind
    count output_size -- how many are kept, with 0 where N = 0
    """,
    order="descs numbers ranks sizes dtypes layouts dense indexable(boxes.0) data(boxes: boxes output) counts "
          "overlap",
    keys="n iou=iou_threshold",
    notes={'boxes': 'NULL where n = 0', 'output': 'likewise', 'iou_threshold': 'not NaN'},
    say=SAY, floats="FLOAT")
