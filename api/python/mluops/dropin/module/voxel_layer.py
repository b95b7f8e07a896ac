"""voxel_layer of mmdet3d before 1.0 and of what was built on it. A voxel's place is z, y, x; in BEVFusion it is x, y, z."""

import functools
import re
from pathlib import Path
from types import ModuleType
from typing import Callable, Dict, Optional

import torch

from ...torch._buffers import fill, fill_first
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


def _has_x_first(package: Optional[ModuleType]) -> bool:
    """As the program's own sources write a place, if they lie where they are compiled."""
    for folder in getattr(package, "__path__", ()):
        for source in Path(folder).glob("*/voxelization_cuda.cu"):
            return re.search(r"\[0\]\s*=\s*c_x\b", source.read_text(errors="replace")) is not None
    return package is not None and "BEVFusion" in package.__name__


@functools.wraps(dynamic_voxelize)
def _dynamic_voxelize(points, coors, *args, **kwargs):
    dynamic_voxelize(points, coors, *args, **kwargs)
    fill("coors", coors, coors.flip(1))


@functools.wraps(hard_voxelize)
def _hard_voxelize(points, voxels, coors, *args, **kwargs):
    count = hard_voxelize(points, voxels, coors, *args, **kwargs)
    fill_first("coors", coors, coors[:count].flip(1))
    return count


def within(package: Optional[ModuleType]) -> Dict[str, Callable]:
    """The functions that differ in this package of the program."""
    if not _has_x_first(package):
        return {}
    return {"dynamic_voxelize": _dynamic_voxelize, "hard_voxelize": _hard_voxelize}
