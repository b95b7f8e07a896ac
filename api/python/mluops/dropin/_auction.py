"""Assignment by auction, and the soft matching of point clouds."""

import torch
from torch import Tensor

_MOST = 3.0  # what an assignment at distance 0 is worth, for points in the unit cube


def _bids(worth: Tensor, eps: float) -> tuple:
    """The best target of each bidder, of equal ones the first, and how much more it is worth than the second."""
    best, at = worth.max(1)
    if worth.shape[1] == 1:
        return at, torch.full_like(best, eps)
    second = worth.scatter(1, at[:, None], float("-inf")).max(1)[0]
    return at, best - second + eps


def _winners(at: Tensor, raises: Tensor, targets: int) -> Tensor:
    """For each bidder whether it gives its target the most; of equal ones the first."""
    highest = raises.new_full((targets,), float("-inf")).scatter_reduce(0, at, raises, "amax")
    most = raises >= highest[at]
    number = torch.arange(len(at))
    first = torch.full((targets,), len(at)).scatter_reduce(0, at[most], number[most], "amin")
    return most & (first[at] == number)


def assigned(one: Tensor, two: Tensor, eps: float, iterations: int) -> Tensor:
    """The target of each point [N, 3] among as many, int64 [N]: in each round those without one bid, and the best bidder of a
    target takes it. In the last round each takes what it bids for. The same for every number of threads."""
    n = len(one)
    distance = torch.cdist(one, two, compute_mode="donot_use_mm_for_euclid_dist")
    price, owner, target = one.new_zeros(n), torch.full((n,), -1), torch.full((n,), -1)
    for round_ in range(iterations):
        free = (target < 0).nonzero()[:, 0]
        if len(free) == 0:
            break
        at, raises = _bids(_MOST - distance[free] - price, eps)
        if round_ == iterations - 1:
            target[free] = at
            break
        wins = _winners(at, raises, n)
        bidders, won = free[wins], at[wins]
        former = owner[won]
        target[former[former >= 0]] = -1
        target[bidders], owner[won] = won, bidders
        price[won] += raises[wins]
    return target


def matched(one: Tensor, two: Tensor) -> Tensor:
    """Shares T [B, M, N] of N points with M others, by weights of ever larger reach (Fan et al., "A Point Set Generation
    Network", CVPR 2017)."""
    squares = torch.cdist(one, two).square()
    n, m = one.shape[1], two.shape[1]
    left = one.new_full((len(one), n), float(max(m // max(n, 1), 1)))
    right = one.new_full((len(one), m), float(max(n // max(m, 1), 1)))
    match = torch.zeros_like(squares)
    for step in (*(4.0 ** j for j in range(7, -2, -1)), 0.0):
        near = torch.exp(-step * squares)
        share = left / ((near * right[:, None]).sum(2) + 1e-9)
        wanted = (near * share[..., None]).sum(1) * right
        given = (right / (wanted + 1e-9)).clamp(max=1) * right
        right = (right - wanted).clamp(min=0)
        moved = near * share[..., None] * given[:, None]
        match = match + moved
        left = (left - moved.sum(2)).clamp(min=0)
    return match.transpose(1, 2).contiguous()
