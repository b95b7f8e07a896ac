"""voxel_layer of mmdet3d before 1.0 and of what was built on it."""

import torch

from ...torch.filling.dynamic_scatter import dynamic_point_to_voxel_backward, dynamic_point_to_voxel_forward
from ...torch.filling.voxelization import dynamic_voxelize_forward, hard_voxelize_forward

__all__ = ["dynamic_point_to_voxel_backward", "dynamic_point_to_voxel_forward", "dynamic_voxelize", "hard_voxelize"]

PACKAGE = "mmdet3d"
NAMES = ("voxel_layer", "*.voxel_layer")


def dynamic_voxelize(points, coors, voxel_size, coors_range, NDim=3):
    dynamic_voxelize_forward(points, torch.tensor(voxel_size), torch.tensor(coors_range), coors, NDim)


def hard_voxelize(points, voxels, coors, num_points_per_voxel, voxel_size, coors_range, max_points, max_voxels, NDim=3,
                  deterministic=True):
    """Returns how many of the first voxels are set."""
    count = torch.zeros(1, dtype=torch.int32)
    size = min(max_voxels, len(voxels))
    hard_voxelize_forward(points, torch.tensor(voxel_size), torch.tensor(coors_range), voxels[:size], coors[:size],
                          num_points_per_voxel[:size], count, max_points, max_voxels, NDim, deterministic)
    return int(count)
