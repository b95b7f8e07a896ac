"""spconv.utils and spconv.pytorch.utils: points into voxels."""

from contextlib import nullcontext
from typing import Any, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor

from ...torch.op.voxelization import voxelization

__all__ = ["Point2VoxelCPU3d", "PointToVoxel", "VoxelGenerator", "gather_features_by_pc_voxel_id", "nullcontext"]

PACKAGE = "spconv"
NAMES = ("spconv.utils", "spconv.pytorch.utils")
OF_OUR_PACKAGE = True


def gather_features_by_pc_voxel_id(seg_res_features: Tensor, pc_voxel_id: Tensor, invalid_value: float = 0) -> Tensor:
    """The features of each point's voxel; points without one (-1) have invalid_value."""
    found = seg_res_features.new_full((len(pc_voxel_id), *seg_res_features.shape[1:]), invalid_value)
    there = pc_voxel_id != -1
    return found.index_put((there,), seg_res_features[pc_voxel_id[there]])


def _voxel_of_each(points: Tensor, coordinates: Tensor, size: Sequence[float], reach: Sequence[float]) -> Tensor:
    """The number of each point's voxel, -1 where it has none: int64 [N]."""
    cells = voxelization(points, size, reach, -1)
    _, number = torch.cat([coordinates, cells]).unique(dim=0, return_inverse=True)  # no grid, which may be any size
    voxels, own = number.split([len(coordinates), len(cells)])
    where = torch.full((len(number),), -1)
    where[voxels] = torch.arange(len(coordinates))
    return where[own].masked_fill((cells < 0).any(1), -1)


class PointToVoxel:
    """Points [N, 3 + C] to voxels [V, P, 3 + C], places [V, 3] in the order z, y, x, and numbers of points [V]."""

    def __init__(self, vsize_xyz: Sequence[float], coors_range_xyz: Sequence[float], num_point_features: int,
                 max_num_voxels: int, max_num_points_per_voxel: int, device: Any = "cpu") -> None:
        self.vsize, self.coors_range = list(vsize_xyz), list(coors_range_xyz)
        self.num_point_features = num_point_features
        self.max_num_voxels, self.max_num_points_per_voxel = max_num_voxels, max_num_points_per_voxel

    def __call__(self, pc: Tensor, clear_voxels: bool = True,
                 empty_mean: bool = False) -> Tuple[Tensor, Tensor, Tensor]:
        voxels, places, counts = voxelization(pc[:, :self.num_point_features], self.vsize, self.coors_range,
                                              self.max_num_points_per_voxel, self.max_num_voxels)
        if empty_mean:
            wide = torch.promote_types(voxels.dtype, torch.float32)
            mean = (voxels.sum(1, dtype=wide) / counts[:, None]).to(voxels.dtype)
            filled = torch.arange(voxels.shape[1]) < counts[:, None]
            voxels = torch.where(filled[..., None], voxels, mean[:, None])
        return voxels, places, counts

    def generate_voxel_with_id(self, pc: Tensor, clear_voxels: bool = True,
                               empty_mean: bool = False) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
        """Also the voxel of each point, -1 where it has none."""
        found = self(pc, clear_voxels, empty_mean)
        return (*found, _voxel_of_each(pc, found[1], self.vsize, self.coors_range))


class Point2VoxelCPU3d(PointToVoxel):
    """PointToVoxel; point_to_voxel takes numpy arrays and tensors."""

    def point_to_voxel(self, points: Any) -> Tuple[Tensor, Tensor, Tensor]:
        return self(torch.as_tensor(points))


class VoxelGenerator:
    """spconv 1's, which programs ask for first: numpy arrays to numpy arrays."""

    def __init__(self, voxel_size: Sequence[float], point_cloud_range: Sequence[float], max_num_points: int,
                 max_voxels: int = 20000) -> None:
        self.voxel_size, self.point_cloud_range = np.array(voxel_size), np.array(point_cloud_range)
        self.grid_size = np.round((self.point_cloud_range[3:] - self.point_cloud_range[:3]) / self.voxel_size).astype(
            np.int64)
        self.max_num_points_per_voxel, self.max_voxels = max_num_points, max_voxels

    def generate(self, points: np.ndarray, max_voxels: int = 0) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = voxelization(torch.from_numpy(points), self.voxel_size.tolist(), self.point_cloud_range.tolist(),
                             self.max_num_points_per_voxel, max_voxels or self.max_voxels)
        return tuple(each.numpy() for each in found)
