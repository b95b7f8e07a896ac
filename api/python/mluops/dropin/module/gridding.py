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


def _cells(grid):
    """The eight vertices of each cell, T [B, S - 1, S - 1, S - 1, 8], and their places from the grid's middle [.., 8, 3]."""
    scale = grid.shape[1]
    parts = [grid[:, i:scale - 1 + i, j:scale - 1 + j, k:scale - 1 + k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    steps = torch.arange(scale - 1) - scale // 2
    base = torch.stack(torch.meshgrid(steps, steps, steps, indexing="ij"), 3)
    return torch.stack(parts, 4), (base[..., None, :] + _gridding._CORNERS).to(grid.dtype)


def _points(grid):
    """The mean place of each cell's vertices by their weights: T [B, S^3, 3], zeros where there is none."""
    weights, places = _cells(grid)
    total = weights.sum(4, keepdim=True)
    there = total >= _LEAST
    means = (weights[..., None] * places).sum(4) / torch.where(there, total, torch.ones_like(total))
    return functional.pad(means * there, (0, 0, 1, 0, 1, 0, 1, 0)).reshape(len(grid), -1, 3)


def rev_forward(scale, grid):
    return _points(grid.detach().reshape(-1, scale, scale, scale))


def rev_backward(ptcloud, grid, grad_ptcloud):
    """T [B, S^3]."""
    scale = round(ptcloud.shape[1] ** (1 / 3))
    cube = grid.detach().reshape(-1, scale, scale, scale).requires_grad_()
    with torch.enable_grad():
        made = _points(cube)
    return torch.autograd.grad(made, cube, grad_ptcloud.reshape(made.shape))[0].flatten(1)
