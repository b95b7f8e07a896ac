"""Areas that convex polygons share, in double, by torch's operators."""

from typing import Tuple

import torch
from torch import Tensor

_PAIRS = 1 << 11  # at once
_SETS = 1 << 9


def _by_axis(polygons: Tensor) -> Tensor:
    """[P, K, 2] as [2, K, P]: what is done to each polygon runs over neighbours."""
    return polygons.permute(2, 1, 0).contiguous()


def _about_origin(polygons: Tensor) -> Tensor:
    (x, y), (x_after, y_after) = polygons, polygons.roll(-1, 1)
    return (x * y_after - y * x_after).sum(0) / 2


def turned_area(polygons: Tensor) -> Tensor:
    """The area of closed paths [P, K, 2], above 0 counterclockwise; taken about a corner, for far from the origin the
    products are larger than the area."""
    polygons = _by_axis(polygons)
    return _about_origin(polygons - polygons[:, :1])


def _cut(way: Tensor, direction: Tensor) -> Tensor:
    """The way with each point outside of a half-plane moved to its border: what is outside becomes a way along the
    border and has no area. Nothing is decided but where a side crosses, so roundings stay roundings.

    Args:
        way: [C, K, P]: how far inside each point is, and C - 1 numbers that are linear in its place.
        direction: [C - 1, P]: how these grow on the way inside.
    Returns: [C - 1, 2 K, P]
    """
    inside, after = way[0], way.roll(-1, 1)
    gap = inside - after[0]
    share = (inside / (gap + (gap == 0))).clamp(0, 1)  # where a side crosses; any of its points where none does
    way = torch.stack([way, torch.lerp(way, after, share)], 2).flatten(1, 2)
    return way[1:] - way[0].clamp(max=0) * direction[:, None]


def shared_area(way: Tensor, other: Tensor) -> Tensor:
    """Overlap of polygons [P, K, 2] and convex ones [P, M, 2], of any sense; differentiable."""
    way, other = _by_axis(way), _by_axis(other)
    own, area = (_about_origin(each - each[:, :1]) for each in (way, other))
    way, other = way - other[:, :1], other - other[:, :1]
    side_x, side_y = other.roll(-1, 1) - other
    square = side_x * side_x + side_y * side_y
    length = torch.where(square > 0, square, torch.ones_like(square)).sqrt() * (1 - 2 * (area < 0).to(square))
    normal = torch.stack([-side_y, side_x]) / length
    inside = ((way[:, None] - other[:, :, None]) * normal[:, :, None]).sum(0)
    directions = torch.cat([(normal[:, :, None] * normal[:, None]).sum(0), normal.transpose(0, 1)], 1)
    way = torch.cat([inside, way])  # [M + 2, K, P]
    for i in range(inside.shape[0]):
        way = _cut(way, directions[i, i + 1:])
    return torch.min(_about_origin(way).abs(), torch.min(own.abs(), area.abs()))


def shared_areas(first: Tensor, second: Tensor, pairs: Tuple[Tensor, Tensor]) -> Tensor:
    """Overlaps of the polygons of two lists that pairs name, [P]; those whose bounds share nothing cost nothing more."""
    result = first.new_zeros(pairs[0].shape)
    (low, high), (other_low, other_high) = ((each.amin(1), each.amax(1)) for each in (first, second))
    near = torch.min(high[pairs[0]], other_high[pairs[1]]) > torch.max(low[pairs[0]], other_low[pairs[1]])
    for some in near.all(1).nonzero()[:, 0].split(_PAIRS):
        result[some] = shared_area(first[pairs[0][some]], second[pairs[1][some]])
    return result


def _followers(points: Tensor) -> Tuple[Tensor, Tensor]:
    """The next corner of the convex hull, counterclockwise, after each point [N, K, 2] that is one, [N, K], and whether
    there is any."""
    points = _by_axis(points)
    x, y = points[:, None] - points[:, :, None]  # [from, to, N]
    size = x * x + y * y
    cross = x[:, :, None] * y[:, None] - y[:, :, None] * x[:, None]
    leftmost = cross.amin(2) / size.clamp(min=1e-300).sqrt()
    slack = 16 * torch.finfo(points.dtype).eps * points.abs().amax((0, 1))
    most = leftmost.masked_fill(size == 0, -float("inf")).amax(1, keepdim=True)
    candidate = (size > 0) & (leftmost >= torch.minimum(most, -slack))
    return size.masked_fill(~candidate, -1).argmax(1).t(), candidate.any(1).t()


def hull(points: Tensor) -> Tensor:
    """The corners of the convex hulls of points [N, K, 2], counterclockwise; the first one stands for those that are
    fewer than K. Differentiable."""
    found = points.detach()
    low = found[..., 1] == found[..., 1].amin(1, keepdim=True)
    start = found[..., 0].masked_fill(~low, float("inf")).argmin(1, keepdim=True)
    following, some = (torch.cat(each) for each in zip(*map(_followers, found.split(_SETS))))
    following = torch.where(some, following, start)
    corners = [start, following.gather(1, start)]
    following = following.scatter(1, start, start)  # a way that has come back stays there
    for _ in range(points.shape[1] - 2):
        corners.append(following.gather(1, corners[-1]))
    return points.gather(1, torch.cat(corners, 1)[..., None].expand(-1, -1, 2))
