"""expansion_penalty of MSN and its descendants (VRCNet): the long edges of minimum spanning trees."""

import torch

from ..._errors import bad_param
from ...torch._buffers import add, adding, filling, write
from ...torch._tensors import floats
from .. import _spanning

__all__ = ["backward", "forward"]

PACKAGE = "emd"
NAMES = ("expansion_penalty",)
BUILT = ("expansion_penalty",)


def forward(xyz, primitive_size, father, dist, alpha, neighbor, cost, mean_mst_length):
    """Points T [B, N, 3] in runs of primitive_size, a tree each. For edges longer than alpha times their tree's mean, the point on
    their outer side gets the distance in dist [B, N] and its neighbour in father (else 0 and -1). Each tree's mean is added to
    mean_mst_length [B]; neighbor and cost are scratch."""
    points, = floats(xyz=xyz.detach())
    batch, count, _ = points.shape
    size = int(primitive_size)
    if size < 2 or count % size:
        raise bad_param("primitive_size", f"at least 2, and a divisor of {count} points", size)
    parent, length = _spanning.tree(points.reshape(-1, size, 3))
    mean = length.sum(1) / (size - 1)
    own = _spanning.outer_ends(parent)
    long = length > mean[:, None] * float(alpha)
    long[:, 0] = False  # where the tree begins
    number = torch.arange(size).expand_as(parent)
    at = torch.where(own, number, parent)  # the outer end of each point's edge
    penalty = length.new_zeros(len(parent), size + 1).scatter(1, at.masked_fill(~long, size), length)[:, :size]
    other = torch.full((len(parent), size + 1), -1).scatter(1, at.masked_fill(~long, size), torch.where(own, parent, number))
    start = torch.arange(0, count, size).repeat(batch)[:, None]
    other = torch.where(other[:, :size] >= 0, other[:, :size] + start, other[:, :size])
    write(filling("dist", dist, penalty.reshape(batch, count)), filling("father", father, other.reshape(batch, count).int()),
          adding("mean_mst_length", mean_mst_length, mean.reshape(batch, -1).sum(1)))
    return 1


def backward(xyz, gradxyz, graddist, idx):
    """Added to the gradient of each penalized point; its neighbour stays."""
    points, grad = floats(xyz=xyz.detach(), graddist=graddist)
    others = points.gather(1, idx.long().clamp(min=0)[..., None].expand(-1, -1, 3))
    add("gradxyz", gradxyz, 2 * (grad * (idx >= 0))[..., None] * (points - others))
    return 1
