"""Minimum spanning trees of many small clouds at once, and their long edges."""

from typing import Tuple

import torch
from torch import Tensor


def tree(points: Tensor) -> Tuple[Tensor, Tensor]:
    """Clouds T [T, P, 3] to the neighbour int64 [T, P] through which each point joined the tree, and the distance; point 0, where the
    tree begins, has itself and 0. Of equal distances the first point's is taken (Prim, 1957)."""
    count, size, _ = points.shape
    row = torch.arange(count)
    near, parent = points.new_full((count, size), float("inf")), torch.zeros(count, size, dtype=torch.int64)
    inside, last = torch.zeros(count, size, dtype=torch.bool), torch.zeros(count, dtype=torch.int64)
    length = points.new_zeros(count, size)
    for _ in range(size - 1):
        inside[row, last] = True
        distance = (points - points[row, last][:, None]).square().sum(2).sqrt()
        closer = (distance < near) & ~inside
        near = torch.where(closer, distance, near)
        parent = torch.where(closer, last[:, None], parent)
        last = near.masked_fill(inside, float("inf")).argmin(1)
        length[row, last] = near[row, last]
    return parent, length


def outer_ends(parent: Tensor) -> Tensor:
    """For each point of a tree whether its edge to its parent is peeled from its own side: leaves go one round after the other, and
    of the last two points the one of the higher number."""
    count, size = parent.shape
    number, left = torch.arange(size), torch.ones_like(parent, dtype=torch.bool)
    left[:, 0] = False  # edges, by the point that joined
    own = torch.zeros_like(left)
    while left.any():
        degree = left.long().scatter_add(1, parent, left.long())
        leaf = degree == 1
        above = leaf.gather(1, parent)
        self_goes = left & leaf & (~above | (number > parent))
        own |= self_goes
        left &= ~(self_goes | above)
    return own
