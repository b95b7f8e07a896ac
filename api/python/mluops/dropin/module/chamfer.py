"""chamfer of PoinTr, GRNet and their descendants: squares of the distances to the nearest points, and their gradients."""

import torch

from ...torch._tensors import floats
from ...torch.op.knn import forward as _nearest

__all__ = ["backward", "forward"]

PACKAGE = "chamfer"
NAMES = ("chamfer",)
BUILT = ("chamfer",)

_ELEMENTS = 1 << 22  # of a matrix of distances at a time
_SPACE = 3


def _one_way(points, others):
    """In space and in the plane the library's search, in more dimensions torch's distances, a block of points at a time."""
    more = _SPACE - points.shape[2]
    if more >= 0:
        indices, squares = _nearest(*(torch.nn.functional.pad(each, (0, more)) for each in (others, points)), 1)
        return squares[..., 0], indices[..., 0]
    found = [torch.cdist(block, others, compute_mode="donot_use_mm_for_euclid_dist").min(2)
             for block in points.split(max(1, _ELEMENTS // max(others.shape[:2].numel(), 1)), 1)]
    at = torch.cat([each.indices for each in found], 1)
    near = others.gather(1, at[..., None].expand(-1, -1, points.shape[2]))
    return (points - near).square().sum(2), at.int()


def forward(xyz1, xyz2):
    """[B, N, 3], [B, M, 3], or in another number of dimensions, to squares [B, N], [B, M] and indices int32."""
    a, b = floats(xyz1=xyz1.detach(), xyz2=xyz2.detach())
    (dist1, idx1), (dist2, idx2) = _one_way(a, b), _one_way(b, a)
    return [dist1, dist2, idx1, idx2]


def backward(xyz1, xyz2, idx1, idx2, grad_dist1, grad_dist2):
    gradients = [torch.zeros_like(xyz1), torch.zeros_like(xyz2)]
    for here, there, idx, grad, points, others in ((0, 1, idx1, grad_dist1, xyz1, xyz2), (1, 0, idx2, grad_dist2, xyz2, xyz1)):
        at = idx.long()[..., None].expand(-1, -1, points.shape[2])
        pull = 2 * grad[..., None] * (points - others.gather(1, at))
        gradients[here] += pull
        gradients[there].scatter_add_(1, at, -pull)
    return gradients
