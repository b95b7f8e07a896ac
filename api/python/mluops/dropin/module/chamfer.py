"""chamfer of PoinTr, GRNet and their descendants: squares of the distances to the nearest points, and their gradients."""

import torch

from ...torch._tensors import floats
from ...torch.op.knn import forward as _nearest

__all__ = ["backward", "forward"]

PACKAGE = "chamfer"
NAMES = ("chamfer",)
BUILT = ("chamfer",)


def _in_space(points):
    return torch.nn.functional.pad(points, (0, 3 - points.shape[2]))


def _one_way(points, others):
    indices, squares = _nearest(others, points, 1)
    return squares[..., 0], indices[..., 0]


def forward(xyz1, xyz2):
    """[B, N, 3], [B, M, 3] (or in the plane) to squares [B, N], [B, M] and indices int32."""
    a, b = map(_in_space, floats(xyz1=xyz1, xyz2=xyz2))
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
