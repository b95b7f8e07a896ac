"""gridding and gridding_distance of GRNet and PoinTr: points to a grid of weights, and back."""

import torch
from torch.nn import functional

from .. import _gridding

__all__ = ["backward", "forward", "rev_backward", "rev_forward"]

PACKAGE = "gridding"
NAMES = ("gridding", "gridding_distance")

_LEAST = 1e-6  # a cell with less weight has no point


def forward(min_x, max_x, min_y, max_y, min_z, max_z, ptcloud):
    low = ptcloud.new_tensor([float(min_x), float(min_y), float(min_z)])
    high = ptcloud.new_tensor([float(max_x), float(max_y), float(max_z)])
    points = ptcloud.detach()
    if points.numel() and ((points < low).any() or (points.floor() + 1 > high).any()):
        raise ValueError(f"ptcloud: wanted points whose cells are inside of {low.tolist()} to {high.tolist()}, got one outside")
    return _gridding.spread(points, low, (high - low + 1).long())


def backward(grid_pt_weights, grid_pt_indexes, grad_grid):
    return _gridding.gradient(grid_pt_weights, grid_pt_indexes, grad_grid.reshape(len(grad_grid), -1))


def _pair_sums(x, axes):
    """The sums of neighbours along each of some axes."""
    for axis in axes:
        x = x.narrow(axis, 0, x.shape[axis] - 1) + x.narrow(axis, 1, x.shape[axis] - 1)
    return x


def _points(grid):
    """The mean place of each cell's vertices by their weights: T [B, S^3, 3], zeros where there is none. A place is its cell's
    and the share of the vertices one step on."""
    scale = grid.shape[1]
    total = _pair_sums(grid, (1, 2, 3))
    there = total >= _LEAST
    total = torch.where(there, total, torch.ones_like(total))
    steps = torch.arange(scale - 1, dtype=grid.dtype) - scale // 2
    means = []
    for axis in (1, 2, 3):
        further = _pair_sums(grid.narrow(axis, 1, scale - 1), [other for other in (1, 2, 3) if other != axis])
        first = steps.reshape([-1 if other == axis else 1 for other in range(4)])
        means.append((further / total + first) * there)
    return functional.pad(torch.stack(means, 4), (0, 0, 1, 0, 1, 0, 1, 0)).reshape(len(grid), -1, 3)


def rev_forward(scale, grid):
    return _points(grid.detach().reshape(-1, scale, scale, scale))


def rev_backward(ptcloud, grid, grad_ptcloud):
    """T [B, S^3]."""
    scale = round(ptcloud.shape[1] ** (1 / 3))
    cube = grid.detach().reshape(-1, scale, scale, scale).requires_grad_()
    with torch.enable_grad():
        made = _points(cube)
    return torch.autograd.grad(made, cube, grad_ptcloud.reshape(made.shape))[0].flatten(1)
