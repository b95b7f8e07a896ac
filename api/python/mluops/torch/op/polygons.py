"""The convex hulls of point sets, against quadrilaterals and by themselves; the points inside of quadrilaterals."""

from typing import Tuple

from torch import Tensor

from ..._functions import polygons as f
from .._blocks import described, floats

__all__ = ["convex_giou", "convex_iou", "min_area_polygons", "points_in_polygons"]


_iou = described("convex_iou(pointsets, polygons)", f.CONVEX_IOU)
_giou = described("convex_giou(pointsets, polygons)", f.CONVEX_GIOU)
_min_area = described("min_area_polygons(pointsets)", f.MIN_AREA_POLYGONS)
_inside = described("points_in_polygons(points, polygons)", f.POINTS_IN_POLYGONS)


def convex_iou(pointsets: Tensor, polygons: Tensor) -> Tensor:
    """IoU of the convex hulls of point sets with quadrilaterals.

    Args:
        pointsets: T [N, 18]; x1, y1, ..., x9, y9.
        polygons: T [K, 8]; x1, y1, ..., x4, y4, in either sense.
    Returns: T [N, K]; 0 where nothing is shared. Not differentiable.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; computed in float64. Source: mmcv's convex_iou;
    mluOpExtConvexIou.
    """
    return _iou(*floats(pointsets=pointsets, polygons=polygons))


def convex_giou(pointsets: Tensor, polygons: Tensor) -> Tuple[Tensor, Tensor]:
    """Generalized IoU of the convex hulls of point sets with quadrilaterals, one by one, and its gradient.

    Args:
        pointsets: T [N, 18]; x1, y1, ..., x9, y9.
        polygons: T [N, 8]; x1, y1, ..., x4, y4, in either sense.
    Returns: T [N], IoU less the share of the hull of both that is in neither, and T [N, 18], its gradient by the
    points, where it has one: sides of both on one line move it differently to either side, and mmcv's choice may
    differ.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; computed in float64. Source: mmcv's convex_giou;
    mluOpExtConvexGiou.
    """
    return _giou(*floats(pointsets=pointsets, polygons=polygons))


def min_area_polygons(pointsets: Tensor) -> Tensor:
    """The smallest rectangles, of any angle, around point sets.

    Args:
        pointsets: T [N, 18]; x1, y1, ..., x9, y9.
    Returns: T [N, 8]: the corners, one after the other round the rectangle, from the one at the greatest place along a
    side and the least across; of several smallest ones that along the hull's first side, counterclockwise from its
    lowest corner. Not differentiable.

    T: float16, bfloat16, float32, float64; computed in float64. Source: mmcv's min_area_polygons;
    mluOpExtMinAreaPolygons.
    """
    return _min_area(*floats(pointsets=pointsets))


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
