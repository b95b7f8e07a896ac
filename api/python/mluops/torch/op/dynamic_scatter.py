"""dynamic_scatter: features of points reduced by voxel; DynamicScatter, the module."""

from typing import List, Tuple

import torch
from torch import Tensor, nn

from ..._functions import dynamic_point_to_voxel as f
from .._blocks import bad_param, described, first, floats, int32, named

__all__ = ["DynamicScatter", "dynamic_scatter"]


REDUCTIONS = "sum", "mean", "max"

# How many voxels there are is in the data: the operator returns a row for each point, and how many count.


def _known_reduction(reduce_type, **_):
    if reduce_type not in (0, 1, 2):
        raise bad_param("reduce_type", "0 (sum), 1 (mean) or 2 (max)", reduce_type)


gradient = described("dynamic_point_to_voxel_backward(grad, feats, voxel_feats, point2voxel_map, voxel_points_count, "
                     "voxel_num, reduce_type)", f.DYNAMIC_POINT_TO_VOXEL_BACKWARD)
# How many voxels there are is in the data: the operator returns a row for each point, and how many count.
forward = described("dynamic_point_to_voxel(feats, coors, reduce_type)", f.DYNAMIC_POINT_TO_VOXEL_FORWARD,
                    sizes={"m": lambda n, **_: n}, rule=_known_reduction, gradient=gradient)


def reduced(feats: Tensor, coors: Tensor, reduce_type: str) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    """Features, coordinates, the voxel of each point, and how many points each voxel has."""
    voxel_feats, voxel_coors, of_points, counts, number = forward(*floats(feats=feats), int32("coors", coors),
                                                                  named("reduce_type", reduce_type, *REDUCTIONS))
    voxel_feats, voxel_coors, counts = first(number, voxel_feats, voxel_coors, counts)
    return voxel_feats, voxel_coors.to(coors.dtype), of_points, counts


def dynamic_scatter(feats: Tensor, coors: Tensor, reduce_type: str = "max") -> Tuple[Tensor, Tensor]:
    """Reduces the features of the points of each voxel.

    Args:
        feats: T [N, C].
        coors: int32 or int64 [N, 3], the voxel of each point; a point with a negative number has none.
        reduce_type: "sum", "mean" or "max".
    Returns: features T [V, C], differentiable in feats (of equal maxima the first point gets the gradient), and
    coordinates [V, 3] of the different voxels in increasing order.

    T: float16, bfloat16, float32, float64. V is read from the data (docs/python.md).
    Source: mmcv's dynamic_scatter.
    """
    return reduced(feats, coors, reduce_type)[:2]


class DynamicScatter(nn.Module):
    """dynamic_scatter as a module, the mean where average_points, else the maximum.

    Args:
        voxel_size, point_cloud_range: kept, not used, as in mmcv.
    forward(points T [N, C], coors [N, 3] or [N, 4], with the number of the cloud in front) -> features [V, C] and
    coordinates [V, 3] or [V, 4].
    """

    def __init__(self, voxel_size: List[float], point_cloud_range: List[float], average_points: bool) -> None:
        super().__init__()
        self.voxel_size, self.point_cloud_range = voxel_size, point_cloud_range
        self.average_points = average_points

    def forward_single(self, points: Tensor, coors: Tensor) -> Tuple[Tensor, Tensor]:
        return dynamic_scatter(points, coors, "mean" if self.average_points else "max")

    def forward(self, points: Tensor, coors: Tensor) -> Tuple[Tensor, Tensor]:
        if coors.shape[-1] == 3:
            return self.forward_single(points, coors)
        features, places = [], []
        for cloud in range(int(coors[-1, 0]) + 1):
            of_cloud = coors[:, 0] == cloud
            feats, voxels = self.forward_single(points[of_cloud], coors[of_cloud][:, 1:])
            features.append(feats)
            places.append(nn.functional.pad(voxels, (1, 0), value=cloud))
        return torch.cat(features), torch.cat(places)

    def extra_repr(self) -> str:
        return (f"voxel_size={self.voxel_size}, point_cloud_range={self.point_cloud_range}, "
                f"average_points={self.average_points}")
