"""points_in_polygons: which points are inside of quadrilaterals."""

import torch
from torch import Tensor

from ..._functions.polygons import POINTS_IN_POLYGONS as INSIDE
from .._operator import no_derivative, no_tangents, operator
from .._tensors import floats, run
from .box_iou_quadri import CORNERS
from .rotated import count_of

__all__ = ["points_in_polygons"]


def _fake(points, polygons):
    n, m = count_of("points", points, "x, y"), count_of("polygons", polygons, CORNERS)
    return points.new_empty((n, m), dtype=torch.float32)


_inside = operator("points_in_polygons(Tensor points, Tensor polygons) -> Tensor", _fake,
                   lambda inside, points, polygons: run(INSIDE, points, polygons, inside),
                   setup=no_derivative, jvp=no_tangents)


def points_in_polygons(points: Tensor, polygons: Tensor) -> Tensor:
    """Which points are inside of which quadrilaterals.

    Args:
        points: T [B, 2]; x, y.
        polygons: T [M, 8]; x1, y1, ..., x4, y4.
    Returns: float32 [B, M]: 1 inside, 0 outside: whether a ray to greater x crosses the sides an odd number of times. A
    point on a side is decided by the sides before that one, counted from the side that ends in x1, y1.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; computed in float64; NaN is outside. Source:
    mmcv's points_in_polygons; mluOpExtPointsInPolygons.
    """
    return _inside(*floats(points=points, polygons=polygons))


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"points_in_polygons": lambda ones, zeros: points_in_polygons(ones(1, 2), ones(1, 8))}
