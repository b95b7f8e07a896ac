"""hard and dynamic voxelize."""

import torch

from .._buffers import fill, fill_all
from ..op import voxelization as _ours


def dynamic_voxelize_forward(points, voxel_size, coors_range, coors, NDim=3):
    fill("coors", coors, _ours.dynamic(*_ours.grid(points, voxel_size, coors_range)))


def hard_voxelize_forward(points, voxel_size, coors_range, voxels, coors, num_points_per_voxel, voxel_num, max_points,
                          max_voxels, NDim=3, deterministic=True):
    results = _ours.hard(*_ours.grid(points, voxel_size, coors_range), max_points, max_voxels)
    fill_all((*results[:3], torch.tensor(int(results[3]))), voxels=voxels, coors=coors,
             num_points_per_voxel=num_points_per_voxel, voxel_num=voxel_num)
