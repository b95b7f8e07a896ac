"""roipoint_pool3d: the points in each upright box, with their features."""

from typing import Tuple

from torch import Tensor, nn

from ..._functions.roipoint_pool3d import ROIPOINT_POOL3D as FORWARD
from .._blocks import at_least, described, floats, integer

__all__ = ["RoIPointPool3d", "roipoint_pool3d"]


forward = described("roipoint_pool3d(points, point_features, boxes3d, num_sampled_points)", FORWARD,
                    names={"num_sampled_points": "sampled_pts_num"},
                    rule=lambda sampled_pts_num, **_: at_least(1, num_sampled_points=sampled_pts_num),
                    empty=lambda outputs: (outputs[0].zero_(), outputs[1].fill_(1)))


def roipoint_pool3d(points: Tensor, point_features: Tensor, boxes3d: Tensor,
                    num_sampled_points: int = 512) -> Tuple[Tensor, Tensor]:
    """Coordinates and features of the first points in each upright box.

    Args:
        points: T [B, N, 3]; x, y, z.
        point_features: T [B, N, C], C at least 1.
        boxes3d: T [B, M, 7]; x, y, z, dx, dy, dz, rz: z is the centre of the bottom, rz the rotation about z.
        num_sampled_points: S, at least 1; the points of a box that has fewer are repeated.
    Returns: pooled features T [B, M, S, 3 + C], zeros for a box without points, and int32 [B, M], 1 for such a box.
    Neither is differentiable, as in mmcv.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted.
    Source: Shi et al., "PointRCNN", 2019; mmcv's RoIPointPool3d.
    """
    return forward(*floats(points=points, point_features=point_features, boxes3d=boxes3d),
                   integer("num_sampled_points", num_sampled_points))


class RoIPointPool3d(nn.Module):
    """roipoint_pool3d as a module: forward(points, point_features, boxes3d)."""

    def __init__(self, num_sampled_points: int = 512) -> None:
        super().__init__()
        self.num_sampled_points = num_sampled_points

    def forward(self, points: Tensor, point_features: Tensor, boxes3d: Tensor) -> Tuple[Tensor, Tensor]:
        return roipoint_pool3d(points, point_features, boxes3d, self.num_sampled_points)
