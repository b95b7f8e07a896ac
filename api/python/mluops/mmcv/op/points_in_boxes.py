"""points_in_boxes. The Python functions of some versions of mmcv ask for a CUDA device; ours stand for them."""

from ...torch._tensors import floats
from ...torch.op import points_in_boxes as _ours


def points_in_boxes_part_forward(boxes_tensor, pts_tensor, box_idx_of_points_tensor):
    box_idx_of_points_tensor.copy_(_ours.part(*floats(points=pts_tensor, boxes=boxes_tensor)))


def points_in_boxes_all_forward(boxes_tensor, pts_tensor, box_idx_of_points_tensor):
    box_idx_of_points_tensor.copy_(_ours.every(*floats(points=pts_tensor, boxes=boxes_tensor)))


def points_in_boxes_cpu_forward(boxes_tensor, pts_tensor, pts_indices_tensor):
    """One cloud: boxes [N, 7], points [M, 3] -> [N, M]."""
    inside = _ours.every(*floats(points=pts_tensor[None], boxes=boxes_tensor[None]))
    pts_indices_tensor.copy_(inside[0].t())


ENTRY_POINTS = (points_in_boxes_part_forward, points_in_boxes_all_forward, points_in_boxes_cpu_forward)
METHODS = {("mmcv.ops.points_in_boxes", "points_in_boxes_part", ""): _ours.points_in_boxes_part,
           ("mmcv.ops.points_in_boxes", "points_in_boxes_all", ""): _ours.points_in_boxes_all}
