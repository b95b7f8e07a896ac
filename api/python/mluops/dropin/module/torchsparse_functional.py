"""torchsparse.nn.functional: convolution, points to voxels and back, hashes of coordinates."""

import torch

from .. import _stacked
from .._torchsparse import conv3d

__all__ = ["calc_ti_weights", "conv3d", "spcount", "spdevoxelize", "sphash", "sphashquery", "spvoxelize"]

PACKAGE = "torchsparse"
NAMES = tuple(f"torchsparse.nn.functional{name}" for name in ("", ".conv", ".count", ".devoxelize", ".hash", ".query",
                                                              ".voxelize"))
OF_OUR_PACKAGE = True

_START, _FACTOR = 14695981039346656037 - 2 ** 64, 1099511628211  # FNV, as int64


def calc_ti_weights(coords, idx_query, scale=1):
    """Trilinear weights T [N, 8] of the corners of the cell of each point x, y, z, z changing fastest; 0 where there is no voxel,
    and those of a point add up to 1."""
    with torch.no_grad():
        behind = coords / scale - (coords / scale).floor()
        ends = torch.stack([1 - behind, behind], 2)
        weights = (ends[:, 0, :, None, None] * ends[:, 1, None, :, None] * ends[:, 2, None, None]).flatten(1)
        weights = weights.masked_fill(idx_query == -1, 0)
        return weights / (weights.sum(1, keepdim=True) + 1e-8)


def spdevoxelize(feats, coords, weights):
    """Each point's sum of its voxels' features: coords int [N, K], -1 for none, weights T [N, K]."""
    there = coords >= 0
    return _stacked.weighted_rows(feats, coords.clamp(min=0), weights.masked_fill(~there, 0).detach())


def spcount(coords, num):
    """How many of the numbers are each of the first num."""
    num = int(num)
    inside = coords[(coords >= 0) & (coords < num)]
    return torch.bincount(inside, minlength=num).int()


def spvoxelize(feats, coords, counts):
    """Means of each voxel's points: coords int [N], less than 0 for none, and how many points each voxel has."""
    point = ((coords >= 0) & (coords < len(counts)) & (counts[coords.clamp(0, max(len(counts) - 1, 0)).long()] > 0)).nonzero()
    point = point[:, 0]
    voxel = coords[point].long()
    return _stacked.sums(feats, point, voxel, len(counts), 1 / counts[voxel].double())


def sphash(coords, offsets=None):
    """int64 [N], or [K, N] of coordinates moved by offsets: FNV-1a of four numbers."""
    places = coords.long() if offsets is None else coords.long() + torch.nn.functional.pad(offsets, (0, 1)).long()[:, None]
    found = torch.full(places.shape[:-1], _START)
    for number in places.unbind(-1):
        found = (found ^ (number & 0xFFFFFFFF)) * _FACTOR
    return ((found >> 60) & 15) ^ (found & 0x0FFFFFFFFFFFFFFF)


def sphashquery(queries, references):
    """The first row of references with each hash, -1 for none."""
    ordered, order = references.sort(stable=True)
    if len(ordered) == 0:
        return torch.full_like(queries, -1)
    at = torch.searchsorted(ordered, queries).clamp(max=len(ordered) - 1)
    return torch.where(ordered[at] == queries, order[at], torch.full_like(at, -1))
