"""diff_iou_rotated_2d and _3d: the order of an intersection's corners."""

from ...torch._integers import int32
from ...torch.op.diff_iou_rotated import sort_vertices


def diff_iou_rotated_sort_vertices_forward(vertices, mask, num_valid):
    return sort_vertices(vertices, mask.bool(), int32("num_valid", num_valid))


ENTRY_POINTS = (diff_iou_rotated_sort_vertices_forward,)
