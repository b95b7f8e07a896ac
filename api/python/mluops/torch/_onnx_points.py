"""Operators of point clouds written in torch's operators that have an ONNX form: onnx.py tells the exporter of them.

Indices are exact, because distances come from the kernels' float operations in the kernels' order, and TopK puts the
lower index first among equal values. All pairs of points and centres are compared.
"""

import math
from typing import Any, Callable, Tuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

_NONE = 1 << 31  # the number of no point


def wide(tensor: Tensor) -> Tensor:
    """In the type of the sums."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def _squared_distances(centers: Tensor, points: Tensor) -> Tensor:
    """[B, M, N] of points [B, N, 3] to centres [B, M, 3]."""
    x, y, z = (wide(centers)[:, :, None] - wide(points)[:, None]).unbind(3)
    return x * x + y * y + z * z


def _least(values: Tensor, count: int, beyond: float) -> Tuple[Tensor, Tensor]:
    """The `count` least of the last dimension and their places, of equal ones the lower place first. Behind the last
    value follows `beyond`, where there may be too few."""
    enough = isinstance(values.shape[-1], int) and values.shape[-1] >= count
    padded = values if enough else F.pad(values, (0, count), value=beyond)
    return padded.topk(count, largest=False, sorted=True)


def _number(value: float, dtype: torch.dtype) -> Tensor:
    """A constant; the exporter rounds those of float64 to float32, but for integers."""
    if dtype != torch.float64 or not math.isfinite(value):
        return torch.full((), value, dtype=dtype)
    fraction, exponent = math.frexp(value)
    return torch.full((), int(fraction * 2 ** 53), dtype=torch.int64).to(dtype) * 2.0 ** (exponent - 53)


def _nearest(centers: Tensor, points: Tensor, count: int, limit: float) -> Tuple[Tensor, Tensor]:
    """Squared distances and indices of the `count` nearest points. A point that is not nearer than limit is no neighbour:
    index 0, distance limit."""
    squares = _squared_distances(centers, points)
    limit, nowhere = _number(limit, squares.dtype), _number(float("inf"), squares.dtype)
    squares, indices = _least(torch.where(squares < limit, squares, nowhere), count, float("inf"))
    found = squares < nowhere
    return (torch.where(found, squares, limit),
            torch.where(found, indices, torch.zeros((), dtype=torch.int64)).to(torch.int32))


def knn(xyz: Tensor, center_xyz: Tensor, k: int) -> Tuple[Tensor, Tensor]:
    squares, indices = _nearest(center_xyz, xyz, k, 1e10)
    return indices, squares.to(xyz.dtype)


def three_nn(target: Tensor, source: Tensor) -> Tuple[Tensor, Tensor]:
    squares, indices = _nearest(target, source, 3, 1e40 if target.dtype == torch.float64 else float("inf"))
    return squares.to(target.dtype), indices


def ball_query(xyz: Tensor, center_xyz: Tensor, min_radius: float, max_radius: float, sample_num: int) -> Tensor:
    squares = _squared_distances(center_xyz, xyz)
    of_type = np.float64 if squares.dtype == torch.float64 else np.float32
    low, high = (_number(float(of_type(radius) * of_type(radius)), squares.dtype) for radius in (min_radius, max_radius))
    inside = (squares == 0) | ((squares >= low) & (squares < high))
    places, _ = _least(torch.where(inside, torch.arange(xyz.shape[1]), _NONE), sample_num, _NONE)
    first = places[..., :1]
    filling = torch.where(first < _NONE, first, torch.zeros_like(first))
    return torch.where(places < _NONE, places, filling).to(torch.int32)


def gather_points(features: Tensor, indices: Tensor) -> Tensor:
    points = features.shape[2]
    inside = (indices >= 0) & (indices < points)
    at = torch.where(inside, indices, torch.zeros_like(indices)).long()
    picked = features.gather(2, at[:, None].expand(-1, features.shape[1], -1))
    return torch.where(inside[:, None], picked, torch.zeros((), dtype=features.dtype))


def group_points(features: Tensor, indices: Tensor) -> Tensor:
    return gather_points(features, indices.flatten(1)).unflatten(2, indices.shape[1:])


# ---- furthest point sampling: one step of a Scan for each point


def _order_of_ties(points: int) -> Tensor:
    """Points [N] in the order in which the first of equally far ones is picked: by the number of mmcv's thread that
    looks at the point, its bits in reverse, then by the point."""
    number = torch.arange(points)
    threads = torch.ones_like(number[-1:])
    for bit in range(1, 11):
        threads = torch.where(number[-1:] + 1 >= 1 << bit, torch.full_like(threads, 1 << bit), threads)
    thread, reverse = number % threads, torch.zeros_like(number)
    for bit in range(10):
        reverse = reverse * 2 + thread % 2
        thread = thread // 2
    return (reverse * (1 << 31) + number).sort()[1]


def _next_furthest(nearest: Tensor, place: Tensor, distances: Tensor) -> Tuple[Tensor, Tensor]:
    """The distances to the points that were picked before and are picked now, and the place of the furthest point."""
    nearest = torch.where(distances < nearest, distances, nearest)
    return nearest, nearest.clamp(min=-1).argmax(1)


def _sampled(step: Callable, clouds: Tensor, order: Tensor, count: int) -> Tensor:
    """step: (nearest [B, N], place [B], turn, clouds) -> both of the next turn, and the place."""
    batch, points = clouds.shape[:2]
    nearest = torch.full((batch, points), 1e10, dtype=clouds.dtype)
    place = torch.zeros(batch, dtype=torch.int64)
    if count == 0:
        return torch.zeros((batch, 0), dtype=torch.int32)
    turns = torch.arange(count)
    _, _, places = torch.ops.higher_order.scan(step, [nearest, place], [turns], (clouds,))
    return order[places.transpose(0, 1)].to(torch.int32)


def _rows(table: Tensor, place: Tensor) -> Tensor:
    """Row place[b] of table [B, N, any], [B, any]."""
    batch, rows = table.shape[:2]
    return table.flatten(0, 1).index_select(0, torch.arange(batch) * rows + place)


def _point_step(nearest: Tensor, place: Tensor, turn: Tensor, clouds: Tensor) -> Any:
    x, y, z = (clouds - _rows(clouds, place)[:, None]).unbind(2)
    return [*_next_furthest(nearest, place, x * x + y * y + z * z), place.clone()]


def _distance_step(nearest: Tensor, place: Tensor, turn: Tensor, clouds: Tensor) -> Any:
    return [*_next_furthest(nearest, place, _rows(clouds, place)), place.clone()]


def furthest_point_sample(points_xyz: Tensor, num_points: int) -> Tensor:
    order = _order_of_ties(points_xyz.shape[1])
    return _sampled(_point_step, wide(points_xyz).index_select(1, order), order, num_points)


def furthest_point_sample_with_dist(points_dist: Tensor, num_points: int) -> Tensor:
    order = _order_of_ties(points_dist.shape[1])
    ordered = wide(points_dist).index_select(1, order).index_select(2, order)
    return _sampled(_distance_step, ordered, order, num_points)
