"""emd of MSN and its descendants (PoinTr, VRCNet): earth mover's distances by auction, deterministic."""

import torch

from ...torch._buffers import add, fill_all
from ...torch._tensors import floats
from .._auction import assigned

__all__ = ["backward", "forward"]

PACKAGE = "emd"
NAMES = ("emd",)
BUILT = ("emd",)


def forward(xyz1, xyz2, dist, assignment, *rest):
    """Fills the squares of distances T [B, N] and the targets int32 [B, N]; the other buffers are scratch. Last: eps, rounds."""
    one, two = floats(xyz1=xyz1.detach(), xyz2=xyz2.detach())
    eps, rounds = float(rest[-2]), int(rest[-1])
    if one.shape != two.shape:
        raise ValueError(f"xyz2: wanted as many points as xyz1 has, {list(one.shape)}, got {list(two.shape)}")
    targets = [assigned(a, b, eps, rounds) for a, b in zip(one, two)]
    squares = [(a - b[at]).square().sum(1) for a, b, at in zip(one, two, targets)]
    if targets:
        fill_all((torch.stack(squares), torch.stack(targets).int()), dist=dist, assignment=assignment)
    return 1


def backward(xyz1, xyz2, gradxyz, graddist, idx):
    """Added to the gradient of xyz1."""
    targets = xyz2.gather(1, idx.long()[..., None].expand(-1, -1, 3))
    add("gradxyz", gradxyz, 2 * graddist[..., None] * (xyz1 - targets))
    return 1
