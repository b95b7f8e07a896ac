"""emd_cuda of PyTorchEMD: the cost of a soft matching of clouds."""

import torch

from ...torch._tensors import floats
from .._auction import matched

__all__ = ["approxmatch_forward", "matchcost_backward", "matchcost_forward"]

PACKAGE = "emd"
NAMES = ("emd_cuda", "*.emd_cuda")
BUILT = ("emd_cuda", "emd_ext")


def approxmatch_forward(xyz1, xyz2):
    """Clouds [B, N, 3], [B, M, 3] to shares T [B, M, N]."""
    return matched(*floats(xyz1=xyz1.detach(), xyz2=xyz2.detach()))


def _cost(one, two, match):
    """Distances times shares."""
    return (torch.cdist(two, one, compute_mode="donot_use_mm_for_euclid_dist") * match).sum((1, 2))


def matchcost_forward(xyz1, xyz2, match):
    return _cost(*floats(xyz1=xyz1.detach(), xyz2=xyz2.detach(), match=match))


def matchcost_backward(grad_cost, xyz1, xyz2, match):
    one, two, match = floats(xyz1=xyz1.detach(), xyz2=xyz2.detach(), match=match)
    one, two = one.requires_grad_(), two.requires_grad_()
    with torch.enable_grad():
        cost = _cost(one, two, match)
    return list(torch.autograd.grad(cost, (one, two), grad_cost.to(cost.dtype)))
