"""points_in_boxes: which upright boxes each point of a cloud is in, the first one or all."""

from torch import Tensor

from ..._functions.points_in_boxes import POINTS_IN_BOXES_ALL as ALL, POINTS_IN_BOXES_PART as PART
from .._blocks import described, floats

__all__ = ["points_in_boxes_all", "points_in_boxes_cpu", "points_in_boxes_part"]


part = described("points_in_boxes_part(points, boxes)", PART, empty=lambda indices: indices.fill_(-1))
every = described("points_in_boxes_all(points, boxes)", ALL)


def points_in_boxes_part(points: Tensor, boxes: Tensor) -> Tensor:
    """The first box each point is in.

    Args:
        points: T [B, M, 3]; x, y, z.
        boxes: T [B, N, 7]; x, y, z, x_size, y_size, z_size, rz: z is the centre of the bottom, rz the rotation about z.
    Returns: indices int32 [B, M], -1 for points in no box. A point on a side face is outside, on top or bottom inside.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's points_in_boxes_part.
    """
    return part(*floats(points=points, boxes=boxes))


def points_in_boxes_all(points: Tensor, boxes: Tensor) -> Tensor:
    """All boxes each point is in.

    Args:
        points: T [B, M, 3]; x, y, z.
        boxes: T [B, N, 7], as in points_in_boxes_part.
    Returns: int32 [B, M, N]: 1 where point m is in box n, else 0.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's points_in_boxes_all.
    """
    return every(*floats(points=points, boxes=boxes))


def points_in_boxes_cpu(points: Tensor, boxes: Tensor) -> Tensor:
    """points_in_boxes_all under the name mmcv gives its CPU version."""
    return points_in_boxes_all(points, boxes)
