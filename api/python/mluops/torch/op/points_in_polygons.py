"""points_in_polygons: which points are inside of quadrilaterals. A composition of torch operators, no kernel of the
library."""

import torch
from torch import Tensor

from ..._shapes import expect, rank
from .._tensors import floats

__all__ = ["points_in_polygons"]


def points_in_polygons(points: Tensor, polygons: Tensor) -> Tensor:
    """Which points are inside of which quadrilaterals. Composed of torch operators.

    Args:
        points: T [B, 2]; x, y.
        polygons: T [M, 8]; x1, y1, ..., x4, y4.
    Returns: float32 [B, M]: 1 inside, 0 outside: whether a ray to greater x crosses the sides an odd number of times. A
    point on a side is decided by the sides before that one, counted from the side that ends in x1, y1.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; NaN is outside. Source: mmcv's
    points_in_polygons.
    """
    points, polygons = floats(points=points, polygons=polygons)
    for name, each, count, what in (("points", points, 2, "x, y"), ("polygons", polygons, 8, "four corners")):
        rank(name, each.shape, 2)
        expect(name, each.shape, (each.shape[0], count), ("", what))
    if points.dtype in (torch.float16, torch.bfloat16):
        points, polygons = points.float(), polygons.float()
    x, y = points.detach()[:, None].unbind(-1)
    corners = polygons.detach().reshape(-1, 4, 2)
    odd = torch.zeros((len(points), len(polygons)), dtype=torch.bool, device=points.device)
    decided = odd.clone()
    for side in range(4):
        (sx, sy), (tx, ty) = corners[:, side].unbind(1), corners[:, side - 1].unbind(1)
        crossing = (sy < y) != (ty < y)
        at = sx + (y - sy) * (tx - sx) / torch.where(ty == sy, torch.ones_like(sy), ty - sy)
        decided |= (sx == x) & (sy == y) | (tx == x) & (ty == y) | crossing & (at == x)
        odd ^= crossing & (at > x) & ~decided
    return odd.float()


SMALLEST: dict = {}  # no operator of the library
