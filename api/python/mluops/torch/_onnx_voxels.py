"""Operators of voxels written in torch's operators that have an ONNX form: onnx.py tells the exporter of them.

A stable sort brings the points of a voxel together. Results have rows for the greatest possible number of points or
voxels, as the operators' results do.
"""

from typing import Tuple

import torch
from torch import Tensor

_NOWHERE = (1 << 63) - 1  # greater than the number of any voxel


def _places(points: Tensor, voxel_size: Tensor, coors_range: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    """The voxel [N, 3] of each point, x, y, z, the size of the grid [3], and which points are in it."""
    place = ((points[:, :3] - coors_range[:3]) / voxel_size).floor()
    extent = (coors_range[3:] - coors_range[:3]) / voxel_size
    grid = extent.floor()
    grid = torch.where(extent - grid >= 0.5, grid + 1, grid).clamp(max=2.0 ** 31)
    inside = ((place >= 0) & (place < grid)).all(1)
    place = torch.where(inside[:, None], place, torch.zeros((), dtype=place.dtype))
    return place.long(), grid.long(), inside


def dynamic_voxelize(points: Tensor, voxel_size: Tensor, coors_range: Tensor) -> Tensor:
    place, _, inside = _places(points, voxel_size, coors_range)
    return torch.where(inside[:, None], place.flip(1), torch.full((), -1, dtype=torch.int64)).to(torch.int32)


def _scattered(size: int, at: Tensor, values: Tensor, kept: Tensor) -> Tensor:
    """[size] with values at these places, only where kept; the others go behind the last."""
    table = torch.zeros((size + 1,), dtype=values.dtype)
    return table.scatter(0, torch.where(kept, at, torch.full((), size, dtype=at.dtype)), values)[:-1]


def _changes(ordered: Tensor) -> Tensor:
    """Where a value differs from the one before, the first too; bool [N]."""
    differs = ordered[1:] != ordered[:-1]
    return torch.cat([torch.ones_like(ordered[:1], dtype=torch.bool), differs])


def hard_voxelize(points: Tensor, voxel_size: Tensor, coors_range: Tensor, max_points: int,
                  max_voxels: int) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    place, grid, inside = _places(points, voxel_size, coors_range)
    key = (place[:, 2] * grid[1] + place[:, 1]) * grid[0] + place[:, 0]
    ordered, order = torch.where(inside, key, torch.full((), _NOWHERE)).sort()
    counted, number = ordered != _NOWHERE, torch.arange(points.shape[0])
    begins = _changes(ordered) & counted
    # The groups by their keys, then by their first points, which is how voxels are numbered.
    group = begins.long().cumsum(0) - 1
    opens = torch.zeros_like(number).scatter(0, order, begins.long())
    voxel = (opens.cumsum(0) - 1)[order]
    kept = begins & (voxel < max_voxels)
    begin = _scattered(max_voxels, voxel, number, kept)
    of_groups = _scattered(points.shape[0], group, voxel, begins)
    voxel = of_groups[group.clamp(min=0)]
    size = torch.zeros((max_voxels + 1,), dtype=torch.int64).scatter_add(
        0, torch.where(counted & (voxel < max_voxels), voxel, torch.full((), max_voxels)), torch.ones_like(voxel))[:-1]
    total = opens.sum(0, keepdim=True).clamp(max=max_voxels if max_points > 0 else 0)

    slot = torch.arange(max_points)
    used = slot < size[:, None]
    at = torch.where(used, begin[:, None] + slot, torch.zeros((), dtype=torch.int64)).reshape(-1)
    voxels = points.index_select(0, order[at]).reshape(max_voxels, max_points, points.shape[1])
    voxels = torch.where(used[:, :, None], voxels, torch.zeros((), dtype=points.dtype))
    first = place.flip(1).index_select(0, order[begin])
    coors = torch.where((size > 0)[:, None], first, torch.zeros((), dtype=torch.int64))
    return voxels, coors.to(torch.int32), size.clamp(max=max_points).to(torch.int32), total.to(torch.int32)


_REDUCTIONS = ("sum", "sum", "amax")


def dynamic_point_to_voxel(feats: Tensor, coors: Tensor,
                           reduce_type: int) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    z, y, x = coors.long().unbind(1)
    counted = (coors >= 0).all(1)
    _, minor = torch.where(counted, y * (1 << 31) + x, torch.full((), _NOWHERE)).sort()
    _, major = torch.where(counted, z, torch.full((), _NOWHERE))[minor].sort()
    order = minor[major]
    rows, valid = coors[order], counted[order]
    begins = torch.cat([valid[:1], (rows[1:] != rows[:-1]).any(1) & valid[1:]])
    group = begins.long().cumsum(0) - 1
    of_points = torch.zeros_like(group).scatter(0, order, torch.where(valid, group, torch.full((), -1)))
    at = torch.where(counted, of_points, torch.full((), feats.shape[0]))  # behind the last, those without a voxel
    counts = torch.zeros((feats.shape[0] + 1,), dtype=torch.int64).scatter_add(0, at, torch.ones_like(at))[:-1]
    sums = feats.to(torch.promote_types(feats.dtype, torch.float32))
    table = torch.zeros((feats.shape[0] + 1, feats.shape[1]), dtype=sums.dtype)
    table = table.scatter_reduce(0, at[:, None].expand(-1, feats.shape[1]), sums, _REDUCTIONS[reduce_type],
                                 include_self=False)[:-1]
    if reduce_type == 1:
        table = table / counts.clamp(min=1)[:, None]
    voxel_coors = torch.zeros((feats.shape[0] + 1, 3), dtype=coors.dtype).scatter(0, at[:, None].expand(-1, 3), coors)
    return (table.to(feats.dtype), voxel_coors[:-1], of_points.to(torch.int32), counts.to(torch.int32),
            begins.long().sum(0, keepdim=True).to(torch.int32))
