"""points_in_polygons: which points are inside of quadrilaterals."""

from torch import Tensor

from ..._functions.polygons import POINTS_IN_POLYGONS as INSIDE
from .._described import described
from .._tensors import floats

__all__ = ["points_in_polygons"]


_inside = described("points_in_polygons(points, polygons)", INSIDE)


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
