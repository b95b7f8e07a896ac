"""points_in_boxes."""

from .._buffers import fill
from .._tensors import floats
from ..op import points_in_boxes as _ours


def points_in_boxes_part_forward(boxes_tensor, pts_tensor, box_idx_of_points_tensor):
    found = _ours.part(*floats(points=pts_tensor, boxes=boxes_tensor))
    fill("box_idx_of_points_tensor", box_idx_of_points_tensor, found)


def points_in_boxes_all_forward(boxes_tensor, pts_tensor, box_idx_of_points_tensor):
    found = _ours.every(*floats(points=pts_tensor, boxes=boxes_tensor))
    fill("box_idx_of_points_tensor", box_idx_of_points_tensor, found)


def points_in_boxes_cpu_forward(boxes_tensor, pts_tensor, pts_indices_tensor):
    """One cloud: boxes [N, 7], points [M, 3] -> [N, M]."""
    inside = _ours.every(*floats(points=pts_tensor[None], boxes=boxes_tensor[None]))
    fill("pts_indices_tensor", pts_indices_tensor, inside[0].t())
