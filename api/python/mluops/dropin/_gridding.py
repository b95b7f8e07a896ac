"""Points spread on the eight vertices of a grid's cell, as GRNet and PoinTr do."""

import torch
from torch import Tensor

_CORNERS = torch.tensor([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def corners(points: Tensor) -> Tensor:
    """The vertices round points [B, N, 3]: integers in T [B, N, 8, 3]; of a point on a plane that one and the next."""
    return points.floor()[:, :, None] + _CORNERS.to(points.dtype)


def spread(points: Tensor, low: Tensor, sizes: Tensor) -> list:
    """The sum of the weights on each vertex T [B, V], the weights of each axis T [B, N, 8, 3] and the vertices int32 [B, N, 8]."""
    at = corners(points)
    weights = 1 - (points[:, :, None] - at).abs()
    x, y, z = (at - low).long().unbind(3)
    index = (x * sizes[1] + y) * sizes[2] + z
    total = points.new_zeros(len(points), int(sizes.prod()))
    total.scatter_add_(1, index.flatten(1), weights.prod(3).flatten(1))
    return [total, weights, index.int()]


def gradient(weights: Tensor, index: Tensor, grad: Tensor) -> Tensor:
    """The gradient of the points, T [B, N, 3]."""
    of_vertex = grad.gather(1, index.long().flatten(1)).reshape(index.shape)
    others = torch.stack([weights[..., [1, 2]].prod(3), weights[..., [0, 2]].prod(3), weights[..., [0, 1]].prod(3)], 3)
    sense = (2 * _CORNERS - 1).to(weights.dtype)
    return (of_vertex[..., None] * others * sense).sum(2)
