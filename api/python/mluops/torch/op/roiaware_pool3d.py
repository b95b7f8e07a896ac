"""roiaware_pool3d: the features of the points in each upright box, pooled voxel by voxel of the box."""

from typing import Sequence, Tuple, Union

from torch import Tensor, nn

from ..._functions.roiaware_pool3d import ROIAWARE_POOL3D_BACKWARD as BACKWARD, ROIAWARE_POOL3D_FORWARD as FORWARD
from .._blocks import bad_param, described, filled, floats, integer, named

__all__ = ["RoIAwarePool3d", "roiaware_pool3d"]


gradient = described("roiaware_pool3d_backward(grad, argmax, pts_idx_of_voxels, points, mode)", BACKWARD,
                     names={"mode": "pool_method", "points": "pts_num"}, sizes={"points": lambda pts_num, **_: pts_num})
forward = described("roiaware_pool3d(rois, pts, pts_feature, out_x, out_y, out_z, max_pts_per_voxel, mode)", FORWARD,
                    names={"mode": "pool_method"}, results="pooled_features argmax pts_idx_of_voxels",
                    gradient=gradient, of="pts_feature", empty=filled(0, -1, 0))


def _three(out_size: Union[int, Sequence[int]]) -> Tuple[int, ...]:
    sizes = tuple(out_size) if isinstance(out_size, Sequence) else (out_size,) * 3
    if len(sizes) != 3:
        raise bad_param("out_size", "one number or three", out_size)
    return tuple(integer("out_size", size) for size in sizes)


def roiaware_pool3d(rois: Tensor, pts: Tensor, pts_feature: Tensor, out_size: Union[int, Sequence[int]],
                    max_pts_per_voxel: int = 128, mode: Union[int, str] = "max") -> Tensor:
    """Pools the features of the points in each upright box, voxel by voxel of the box.

    Args:
        rois: T [N, 7]; x, y, z, dx, dy, dz, rz: z is the centre of the bottom, rz the rotation about z.
        pts: T [P, 3]; x, y, z.
        pts_feature: T [P, C].
        out_size: voxels along the sides of a box, one number or three, at most 256.
        max_pts_per_voxel: S; the first S - 1 points of a voxel count.
        mode: "max" (0) or "avg" (1).
    Returns: T [N, X, Y, Z, C], zeros where a voxel has no point; differentiable in pts_feature.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted.
    Source: Shi et al., "Part-A2", 2020; mmcv's RoIAwarePool3d.
    """
    tensors = floats(rois=rois, pts=pts, pts_feature=pts_feature)
    return forward(*tensors, *_three(out_size), integer("max_pts_per_voxel", max_pts_per_voxel),
                   named("mode", mode, "max", "avg"))[0]


class RoIAwarePool3d(nn.Module):
    """roiaware_pool3d as a module: forward(rois, pts, pts_feature)."""

    def __init__(self, out_size: Union[int, Sequence[int]], max_pts_per_voxel: int = 128,
                 mode: Union[int, str] = "max") -> None:
        super().__init__()
        self.out_size, self.max_pts_per_voxel = out_size, max_pts_per_voxel
        self.mode = named("mode", mode, "max", "avg")

    def forward(self, rois: Tensor, pts: Tensor, pts_feature: Tensor) -> Tensor:
        return roiaware_pool3d(rois, pts, pts_feature, self.out_size, self.max_pts_per_voxel, self.mode)
