"""StructuralLossesBackend of PointFlow and its descendants: a soft matching of clouds, and distances to the nearest points."""

import torch

from . import chamfer as _chamfer
from . import emd_cuda as _emd

__all__ = ["ApproxMatch", "MatchCost", "MatchCostGrad", "NNDistance", "NNDistanceGrad"]

PACKAGE = "emd"
NAMES = ("StructuralLossesBackend", "*.StructuralLossesBackend")


def ApproxMatch(set_d, set_q):
    """Clouds [B, N, 3], [B, M, 3] to shares T [B, M, N], and scratch."""
    match = _emd.approxmatch_forward(set_d, set_q)
    return [match, match.new_zeros(len(match), 2 * (match.shape[1] + match.shape[2]))]


def MatchCost(set_d, set_q, match):
    return _emd.matchcost_forward(set_d, set_q, match)


def MatchCostGrad(set_d, set_q, match):
    """The gradients of each cloud's cost."""
    return _emd.matchcost_backward(torch.ones(len(set_d)), set_d, set_q, match)


def NNDistance(set_d, set_q):
    """Squared distances T [B, N] and indices int32 [B, N] of the points of set_d in set_q, then [B, M] of set_q in set_d."""
    first, second, idx1, idx2 = _chamfer.forward(set_d, set_q)
    return [first, idx1, second, idx2]


def NNDistanceGrad(set_d, set_q, idx1, idx2, grad_dist1, grad_dist2):
    return _chamfer.backward(set_d, set_q, idx1, idx2, grad_dist1, grad_dist2)
