"""diff_iou_rotated_2d and _3d, whose own code is wrong where sides lie on each other, and the order of an intersection's
corners for those who call that."""

from ...torch._integers import int32
from ...torch.op.diff_iou_rotated import diff_iou_rotated_2d, diff_iou_rotated_3d, sort_vertices


def diff_iou_rotated_sort_vertices_forward(vertices, mask, num_valid):
    return sort_vertices(vertices, mask.bool(), int32("num_valid", num_valid))


ENTRY_POINTS = (diff_iou_rotated_sort_vertices_forward,)
METHODS = {("mmcv.ops.diff_iou_rotated", "diff_iou_rotated_2d", ""): diff_iou_rotated_2d,
           ("mmcv.ops.diff_iou_rotated", "diff_iou_rotated_3d", ""): diff_iou_rotated_3d}
