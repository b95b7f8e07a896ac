"""points_in_boxes. The Python functions of some versions of mmcv ask for a CUDA device; ours stand for them."""

from ...torch.filling.points_in_boxes import (points_in_boxes_all_forward, points_in_boxes_cpu_forward,
                                              points_in_boxes_part_forward)
from ...torch.op import points_in_boxes as _ours

ENTRY_POINTS = (points_in_boxes_part_forward, points_in_boxes_all_forward, points_in_boxes_cpu_forward)
METHODS = {("mmcv.ops.points_in_boxes", "points_in_boxes_part", ""): _ours.points_in_boxes_part,
           ("mmcv.ops.points_in_boxes", "points_in_boxes_all", ""): _ours.points_in_boxes_all}
