"""pointnet2_ops.pointnet2_utils, for programs that import it and never got the package built."""

from typing import Optional

import torch
from torch import Tensor, nn

from ...torch.op.gather_points import gather_points as gather_operation
from ...torch.op.gather_points import grouping_operation
from ...torch.op.three_interpolate import three_interpolate
from ...torch.op.three_nn import three_nn
from . import pointnet2_ops_ext as _ext

__all__ = ["GroupAll", "QueryAndGroup", "ball_query", "furthest_point_sample", "gather_operation", "grouping_operation",
           "three_interpolate", "three_nn"]

PACKAGE = "pointnet2_ops"
NAMES = ("pointnet2_ops.pointnet2_utils",)
OF_OUR_PACKAGE = True


def furthest_point_sample(xyz: Tensor, npoint: int) -> Tensor:
    """[B, N, 3] to indices int32 [B, npoint]; points next to the origin are padding."""
    return _ext.furthest_point_sampling(xyz.detach(), npoint)


def ball_query(radius: float, nsample: int, xyz: Tensor, new_xyz: Tensor) -> Tensor:
    """Indices int32 [B, npoint, nsample] of points of xyz [B, N, 3] near those of new_xyz [B, npoint, 3]."""
    return _ext.ball_query(new_xyz.detach(), xyz.detach(), radius, nsample)


class QueryAndGroup(nn.Module):
    """Points within a radius and their features, [B, 3 + C, npoint, nsample]; without use_xyz the features alone."""

    def __init__(self, radius: float, nsample: int, use_xyz: bool = True) -> None:
        super().__init__()
        self.radius, self.nsample, self.use_xyz = radius, nsample, use_xyz

    def forward(self, xyz: Tensor, new_xyz: Tensor, features: Optional[Tensor] = None) -> Tensor:
        idx = ball_query(self.radius, self.nsample, xyz, new_xyz)
        places = grouping_operation(xyz.transpose(1, 2).contiguous(), idx) - new_xyz.transpose(1, 2).unsqueeze(-1)
        return _joined(places, None if features is None else grouping_operation(features, idx), self.use_xyz)


class GroupAll(nn.Module):
    """One group of all points, [B, 3 + C, 1, N]; without use_xyz of the features alone."""

    def __init__(self, use_xyz: bool = True) -> None:
        super().__init__()
        self.use_xyz = use_xyz

    def forward(self, xyz: Tensor, new_xyz: Optional[Tensor], features: Optional[Tensor] = None) -> Tensor:
        grouped = None if features is None else features.unsqueeze(2)
        return _joined(xyz.transpose(1, 2).unsqueeze(2), grouped, self.use_xyz)


def _joined(places: Tensor, features: Optional[Tensor], use_xyz: bool) -> Tensor:
    if features is None:
        assert use_xyz, "without features there is nothing but xyz"
        return places
    return torch.cat([places, features], 1) if use_xyz else features
