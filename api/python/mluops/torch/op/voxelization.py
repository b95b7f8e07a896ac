"""voxelization: points sorted into the voxels of a grid, hard or dynamic."""

from typing import Sequence, Tuple, Union

import torch
from torch import Tensor, nn

from ..._functions.voxelization import DYNAMIC_VOXELIZE as DYNAMIC, VOXELIZATION as HARD
from .._blocks import at_least, bad_param, described, first, floats, integer, is_tensor

__all__ = ["Voxelization", "voxelization"]


def _three_coordinates(features, **_):
    at_least(3, **{"dimension 1 of points": features})


def _hard_call(outputs, *inputs):
    if 0 in inputs[3:]:
        for output in outputs:
            output.zero_()
        return None
    return hard.form.call(outputs, *inputs)


hard = described("hard_voxelize(points, voxel_size, coors_range, max_points, max_voxels)", HARD,
                 rule=_three_coordinates, fixed={"NDim": 3, "deterministic": True}, call=_hard_call)
dynamic = described("dynamic_voxelize(points, voxel_size, coors_range)", DYNAMIC, rule=_three_coordinates)


def grid(points: Tensor, voxel_size: Union[Tensor, Sequence[float]],
         coors_range: Union[Tensor, Sequence[float]]) -> list:
    """Points, sizes and range of one dtype: float32, where the points are half or bfloat16 too."""
    sizes = [torch.as_tensor(numbers, dtype=torch.float32, device=is_tensor("points", points).device)
             for numbers in (voxel_size, coors_range)]
    return floats(points=points, voxel_size=sizes[0], coors_range=sizes[1])


def voxelization(points: Tensor, voxel_size: Sequence[float], coors_range: Sequence[float], max_points: int = 35,
                 max_voxels: int = 20000,
                 deterministic: bool = True) -> Union[Tensor, Tuple[Tensor, Tensor, Tensor]]:
    """Sorts points into the voxels of a grid.

    Args:
        points: T [N, F], F >= 3; x, y, z and other features.
        voxel_size: three numbers, taken as float32.
        coors_range: six numbers: least x, y, z, greatest x, y, z.
        max_points: most points of a voxel; -1: dynamic voxelization.
        max_voxels: most voxels, by the order of their first points; -1: dynamic voxelization.
        deterministic: either way the result is that of mmcv's deterministic code.
    Returns: voxels T [V, max_points, F], zeros behind the last point of each; coordinates int32 [V, 3] in the order
    z, y, x; numbers of points int32 [V]. Dynamic: coordinates int32 [N, 3] of each point's voxel, -1 for points outside.
    None is differentiable.

    T: float16, bfloat16, float32, float64; places are computed in float32, or float64. V is read from the data
    (docs/python.md). Source: mmcv's voxelization.
    """
    prepared = grid(points, voxel_size, coors_range)
    if max_points == -1 or max_voxels == -1:
        return dynamic(*prepared)
    voxels, coors, counts, number = hard(*prepared, integer("max_points", max_points),
                                         integer("max_voxels", max_voxels))
    voxels, coors, counts = first(number, voxels, coors, counts)
    return voxels.to(points.dtype), coors, counts


class Voxelization(nn.Module):
    """voxelization as a module.

    Args:
        voxel_size, point_cloud_range, max_num_points, deterministic: of voxelization.
        max_voxels: most voxels, one number or (in training, otherwise).
    """

    def __init__(self, voxel_size: Sequence[float], point_cloud_range: Sequence[float], max_num_points: int,
                 max_voxels: Union[Tuple[int, int], int] = 20000, deterministic: bool = True) -> None:
        super().__init__()
        self.voxel_size, self.point_cloud_range = voxel_size, point_cloud_range
        self.max_num_points, self.deterministic = max_num_points, deterministic
        self.max_voxels = max_voxels if isinstance(max_voxels, tuple) else (max_voxels, max_voxels)
        if len(self.max_voxels) != 2:
            raise bad_param("max_voxels", "one number or two", max_voxels)
        ends = torch.tensor(point_cloud_range, dtype=torch.float32, device="cpu")
        sizes = torch.tensor(voxel_size, dtype=torch.float32, device="cpu")
        self.grid_size = torch.round((ends[3:] - ends[:3]) / sizes).long()
        self.pcd_shape = [1, int(self.grid_size[1]), int(self.grid_size[0])]

    def forward(self, points: Tensor) -> Union[Tensor, Tuple[Tensor, Tensor, Tensor]]:
        most = self.max_voxels[0 if self.training else 1]
        return voxelization(points, self.voxel_size, self.point_cloud_range, self.max_num_points, most,
                            self.deterministic)

    def extra_repr(self) -> str:
        return (f"voxel_size={self.voxel_size}, point_cloud_range={self.point_cloud_range}, "
                f"max_num_points={self.max_num_points}, max_voxels={self.max_voxels}, "
                f"deterministic={self.deterministic}")


SMALLEST = {"voxelization": lambda ones, zeros: voxelization(ones(1, 3), [1, 1, 1], [0, 0, 0, 2, 2, 2], 1, 1)}
