"""Areas that convex polygons share, in double, by torch's operators."""

from typing import Tuple

import torch
from torch import Tensor

_PAIRS = 1 << 13  # at once


def turned_area(polygon: Tensor) -> Tensor:
    """The area of closed paths [..., K, 2], above 0 counterclockwise; taken about a corner, for far from the origin the
    products are larger than the area."""
    return _about_origin(polygon - polygon[..., :1, :])


def _about_origin(polygon: Tensor) -> Tensor:
    after = polygon.roll(-1, -2)
    return (polygon[..., 0] * after[..., 1] - polygon[..., 1] * after[..., 0]).sum(-1) / 2


def _cut(way: Tensor, begin: Tensor, normal: Tensor) -> Tensor:
    """The way with each point outside of a half-plane moved to its border: what is outside becomes a way along the
    border and has no area. Nothing is decided but where a side crosses, so roundings stay roundings."""
    distance = ((way - begin[..., None, :]) * normal[..., None, :]).sum(-1)
    after = distance.roll(-1, -1)
    moved = way - distance.clamp(max=0)[..., None] * normal[..., None, :]
    crosses = (distance < 0) != (after < 0)
    share = torch.where(crosses, distance / torch.where(crosses, distance - after, torch.ones_like(after)),
                        torch.zeros_like(after))[..., None]
    crossing = torch.where(crosses[..., None], way + share * (way.roll(-1, -2) - way), moved)
    return torch.stack([moved, crossing], -2).flatten(-3, -2)


def shared_area(way: Tensor, other: Tensor) -> Tensor:
    """Overlap of polygons [..., K, 2] and convex ones [..., M, 2], of any sense; differentiable."""
    own, area = turned_area(way), turned_area(other)
    sense = torch.where(area < 0, -torch.ones_like(area), torch.ones_like(area))[..., None]
    origin = other[..., :1, :]
    way, other = way - origin, other - origin
    for corner in range(other.shape[-2]):
        begin = other[..., corner, :]
        side = other[..., (corner + 1) % other.shape[-2], :] - begin
        length = side.detach().square().sum(-1, keepdim=True)
        length = torch.where(length > 0, side.square().sum(-1, keepdim=True), torch.ones_like(length)).sqrt()
        normal = torch.stack([-side[..., 1], side[..., 0]], -1) / length * sense
        way = _cut(way, begin, normal)
    return torch.min(_about_origin(way).abs(), torch.min(own.abs(), area.abs()))


def shared_areas(first: Tensor, second: Tensor, pairs: Tuple[Tensor, Tensor]) -> Tensor:
    """Overlaps of the polygons of two lists that pairs name, [P]; those whose bounds share nothing cost nothing more."""
    result = first.new_zeros(pairs[0].shape)
    (low, high), (other_low, other_high) = ((each.amin(1), each.amax(1)) for each in (first, second))
    near = torch.min(high[pairs[0]], other_high[pairs[1]]) > torch.max(low[pairs[0]], other_low[pairs[1]])
    for some in near.all(1).nonzero()[:, 0].split(_PAIRS):
        result[some] = shared_area(first[pairs[0][some]], second[pairs[1][some]])
    return result


def hull(points: Tensor) -> Tensor:
    """The corners of the convex hulls of points [N, K, 2], counterclockwise; the first one stands for those that are
    fewer than K. Differentiable."""
    found = points.detach()
    low = found[..., 1] == found[..., 1].amin(1, keepdim=True)
    start = found[..., 0].masked_fill(~low, float("inf")).argmin(1)
    rows = torch.arange(points.shape[0], device=points.device)
    at, corners, done = start, [start], torch.zeros_like(start, dtype=torch.bool)
    for _ in range(points.shape[1] - 1):
        arm = found - found[rows, at][:, None]
        size = arm.square().sum(-1)
        cross = arm[:, :, None, 0] * arm[:, None, :, 1] - arm[:, :, None, 1] * arm[:, None, :, 0]  # from one to another
        leftmost = (cross / size.clamp(min=1e-300).sqrt()[:, :, None]).amin(2)
        slack = 16 * torch.finfo(found.dtype).eps * found.abs().amax((1, 2))[:, None]
        candidate = (size > 0) & (leftmost >= torch.minimum(
            leftmost.masked_fill(size == 0, -float("inf")).amax(1, keepdim=True), -slack))
        following = size.masked_fill(~candidate, -1).argmax(1)
        done = done | (following == start) | ~candidate.any(1)
        at = torch.where(done, start, following)
        corners.append(at)
    order = torch.stack(corners, 1)
    return points.gather(1, order[..., None].expand(-1, -1, 2))
