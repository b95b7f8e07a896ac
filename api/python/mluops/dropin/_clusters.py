"""Clusters of points by their neighbours: what a breadth-first search from each point not yet reached finds, for all
clusters at once."""

from typing import List, Tuple

import torch
from torch import Tensor

from . import _stacked


def _roots(source: Tensor, target: Tensor, points: int) -> Tensor:
    """The least point from which each is reached."""
    label = torch.arange(points)
    while True:
        lower = label[source] < label[target]
        if not lower.any():
            return label
        label = label.scatter_reduce(0, target[lower], label[source[lower]], "amin")
        label = label[label][label]  # a root's root reaches it, too


def _first_of_equal(values: Tensor) -> Tensor:
    """Values without those that stand before, in their order."""
    ordered, order = values.sort(stable=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return values[order[first].sort()[0]]


def _by_levels(source: Tensor, target: Tensor, roots: Tensor, points: int) -> Tensor:
    """Points in the order in which searches from all roots at once find them."""
    length = torch.bincount(source, minlength=points)
    start = length.cumsum(0) - length
    seen = torch.zeros(points, dtype=torch.bool)
    found: List[Tensor] = []
    level = roots
    while len(level):
        found.append(level)
        seen[level] = True
        row = torch.arange(len(level)).repeat_interleave(length[level])
        reached = target[start[level][row] + _stacked.place_in_row(row, len(level))]
        level = _first_of_equal(reached[~seen[reached]])
    return torch.cat(found) if found else roots


def clusters(neighbours: Tensor, start_len: Tensor, label: Tensor, least: float) -> Tuple[Tensor, Tensor]:
    """Clusters of at least so many points that neighbours lead to, of one label each: rows of cluster and point, int32 [S, 2],
    a cluster's points in the order of their search, and where each cluster begins, int32 [K + 1]."""
    points = len(start_len)
    start, length = start_len.long().unbind(1)
    source = torch.arange(points).repeat_interleave(length)
    target = neighbours.long()[start[source] + _stacked.place_in_row(source, points)]
    alike = label[source] == label[target]
    source, target = source[alike], target[alike]
    root = _roots(source, target, points)
    own = root[source] == root[target]
    order = _by_levels(source[own], target[own], (root == torch.arange(points)).nonzero()[:, 0], points)
    order = order[root[order].sort(stable=True)[1]]
    size = torch.bincount(root, minlength=points)
    order = order[size[root[order]] >= least]
    size = size[(size > 0) & (size >= least)]
    number = torch.arange(len(size)).repeat_interleave(size)
    ends = torch.cat([size.new_zeros(1), size.cumsum(0)])
    return torch.stack([number, order], 1).int(), ends.int()
