"""MDS of MSN and its descendants (VRCNet): points in the order of least density."""

import torch

from ...torch._buffers import fill
from ...torch._tensors import floats
from .pointnet2_ops_ext import gather_points, gather_points_grad

__all__ = ["gather_points", "gather_points_grad", "minimum_density_sampling"]

PACKAGE = "emd"
NAMES = ("MDS",)
BUILT = ("MDS",)

_TAKEN = 1e9
_COARSE = 8192  # points before this place are of the coarse cloud; those behind weigh twice


def minimum_density_sampling(points, nsamples, mean_mst_length, output):
    """Fills the indices int32 [B, nsamples]: first point 0, then always the point that is least near those taken (of equal ones
    the first). Near by exp(-squared distance / (5 mean_mst_length^2))."""
    xyz, length = floats(points=points.detach(), mean_mst_length=mean_mst_length.detach())
    batch, count, _ = xyz.shape
    reach, weight = 5 * length[:, None] ** 2, torch.ones(count, dtype=xyz.dtype)
    weight[_COARSE:] = 2
    density, row, found = xyz.new_zeros(batch, count), torch.arange(batch), torch.zeros(batch, nsamples, dtype=torch.int64)
    for k in range(1, nsamples):
        last = found[:, k - 1]
        density[row, last] = _TAKEN
        density += torch.exp(-(xyz - xyz[row, last][:, None]).square().sum(2) / reach) * weight
        least, at = density.min(1)
        found[:, k] = at.masked_fill(~(least < _TAKEN), 0)
    fill("output", output, found.int())
    return output
