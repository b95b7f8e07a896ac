"""convex_iou, convex_giou and min_area_polygons: point sets against quadrilaterals. A composition of torch operators,
no kernel of the library."""

import math
from typing import Tuple

import torch
from torch import Tensor

from ..._shapes import expect, rank
from .._polygons import hull, shared_area, shared_areas, turned_area
from .._tensors import floats

__all__ = ["convex_giou", "convex_iou", "min_area_polygons"]


def _points(name: str, each: Tensor, numbers: int) -> Tensor:
    n, _ = rank(name, each.shape, 2)
    expect(name, each.shape, (n, numbers), ("", f"x and y of {numbers // 2} points"))
    return each.detach().double().reshape(n, numbers // 2, 2)


def _over(shared: Tensor, whole: Tensor) -> Tensor:
    some = whole > 0
    return torch.where(some, shared / torch.where(some, whole, torch.ones_like(whole)), torch.zeros_like(whole))


def convex_iou(pointsets: Tensor, polygons: Tensor) -> Tensor:
    """IoU of the convex hulls of point sets with convex quadrilaterals. Composed of torch operators, computed in
    double.

    Args:
        pointsets: T [N, 18]; x1, y1, ..., x9, y9.
        polygons: T [K, 8]; x1, y1, ..., x4, y4, in either sense.
    Returns: T [N, K]; 0 where nothing is shared. Not differentiable.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's convex_iou.
    """
    pointsets, polygons = floats(pointsets=pointsets, polygons=polygons)
    points, quads = _points("pointsets", pointsets, 18), _points("polygons", polygons, 8)
    n, k = points.shape[0], quads.shape[0]
    if n * k == 0:
        return pointsets.new_zeros(n, k)
    hulls = hull(points)
    number = torch.arange(n * k, device=points.device)
    shared = shared_areas(hulls, quads, (torch.div(number, k, rounding_mode="floor"), number % k)).reshape(n, k)
    whole = turned_area(hulls).abs()[:, None] + turned_area(quads).abs() - shared
    return _over(shared, whole).to(pointsets.dtype)


def convex_giou(pointsets: Tensor, polygons: Tensor) -> Tuple[Tensor, Tensor]:
    """Generalized IoU of the convex hulls of point sets with convex quadrilaterals, one by one, and its gradient.
    Composed of torch operators, computed in double.

    Args:
        pointsets: T [N, 18]; x1, y1, ..., x9, y9.
        polygons: T [N, 8]; x1, y1, ..., x4, y4, in either sense.
    Returns: T [N], IoU less the share of the hull of both that is in neither, and T [N, 18], its gradient by the
    points, where it has one: a corner on the other's border moves it differently to either side, and mmcv's choice may
    differ.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's convex_giou.
    """
    pointsets, polygons = floats(pointsets=pointsets, polygons=polygons)
    points, quads = _points("pointsets", pointsets, 18), _points("polygons", polygons, 8)
    expect("polygons", polygons.shape, (points.shape[0], 8), ("that of pointsets", ""))
    if not points.shape[0]:
        return pointsets.new_zeros(0), pointsets.new_zeros(0, 18)
    with torch.enable_grad():
        leaf = points.requires_grad_()
        own = hull(leaf)
        shared = shared_area(own, quads)
        whole = turned_area(own).abs() + turned_area(quads).abs() - shared
        around = turned_area(hull(torch.cat([leaf, quads], 1))).abs()
        value = _over(shared, whole) - _over(around - whole, around)
        gradient, = torch.autograd.grad(value.sum(), leaf)
    return value.detach().to(pointsets.dtype), gradient.reshape(-1, 18).to(pointsets.dtype)


def min_area_polygons(pointsets: Tensor) -> Tensor:
    """The smallest rectangles, of any angle, around point sets. Composed of torch operators, computed in double.

    Args:
        pointsets: T [N, 18]; x1, y1, ..., x9, y9.
    Returns: T [N, 8]: the corners, one after the other round the rectangle, from the one at the greatest place along a
    side and the least across; of several smallest ones that along the hull's first side, counterclockwise from its
    lowest corner.

    T: float16, bfloat16, float32, float64. Source: mmcv's min_area_polygons.
    """
    pointsets, = floats(pointsets=pointsets)
    points = _points("pointsets", pointsets, 18)
    if not points.shape[0]:
        return pointsets.new_zeros(0, 8)
    corners = hull(points)  # a side of the rectangle is along one of its sides
    side = corners.roll(-1, 1) - corners
    angle = torch.atan2(side[..., 1], side[..., 0]).remainder(math.pi / 2)
    along = torch.stack([angle.cos(), angle.sin()], -1)  # [N, 9, 2]
    across = torch.stack([-along[..., 1], along[..., 0]], -1)
    u, v = (points @ axis.transpose(1, 2) for axis in (along, across))  # [N, 9, 9]
    areas = (u.amax(1) - u.amin(1)) * (v.amax(1) - v.amin(1))
    best = (areas <= areas.amin(1, keepdim=True) * (1 + 1e-12)).int().argmax(1)
    rows = torch.arange(points.shape[0], device=points.device)
    (u0, u1), (v0, v1) = ((each[rows, :, best].amin(1), each[rows, :, best].amax(1)) for each in (u, v))
    own, other = along[rows, best], across[rows, best]
    places = (u1, v0), (u0, v0), (u0, v1), (u1, v1)
    corners = torch.stack([x[:, None] * own + y[:, None] * other for x, y in places], 1)
    return corners.reshape(-1, 8).to(pointsets.dtype)


SMALLEST: dict = {}  # no operator of the library
