"""voxel_pooling: features of points added to the cells of a map that they lie over."""

import math
from typing import Sequence

from torch import Tensor

from ..._functions.voxel_pooling import VOXEL_POOLING_FORWARD as FORWARD
from .._blocks import at_least, bad_param, described, filled, floats, index32, integer

__all__ = ["voxel_pooling"]


def _setup(ctx, inputs, output):
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(output[1])


def _backward(ctx, grad, _):
    image, y, x = ctx.saved_tensors[0].long().unbind(2)
    cells = ((image * grad.shape[1] + y) * grad.shape[2] + x).clamp(min=0)
    rows = grad.flatten(0, 2).index_select(0, cells.flatten()).view(*image.shape, grad.shape[3])
    return (None, rows.masked_fill_((image < 0)[..., None], 0), *(None,) * 3)


forward = described("voxel_pooling(geom_xyz, input_features, x, y, z)", FORWARD,
                    names={"x": "num_voxel_x", "y": "num_voxel_y", "z": "num_voxel_z"}, setup=_setup,
                    backward=_backward, linear="input_features", empty=filled(0, -1))


def voxel_pooling(geom_xyz: Tensor, input_features: Tensor, voxel_num: Sequence[int]) -> Tensor:
    """Adds the features of points to the cells of a map that they lie over.

    Args:
        geom_xyz: int32 or int64 [B, N, 3]: the voxel x, y, z of each point; one outside adds to nothing. More
            dimensions between the first and the last, as [B, cameras, depths, h, w, 3], count as N.
        input_features: T [B, N, C], with the dimensions of geom_xyz.
        voxel_num: X, Y, Z.
    Returns: T [B, C, Y, X], the memory of a [B, Y, X, C]; differentiable in input_features.

    T: float16, bfloat16, float32, float64, summed in float where narrower.
    Source: Li et al., "BEVDepth", AAAI 2023, whose voxel_pooling this is.
    """
    features, = floats(input_features=input_features)
    sizes = [integer("voxel_num", each) for each in (voxel_num.tolist() if isinstance(voxel_num, Tensor) else voxel_num)]
    if len(sizes) != 3:
        raise bad_param("voxel_num", "X, Y, Z", sizes)
    at_least(1, voxel_num=min(sizes))
    batch, channels = features.shape[0], features.shape[-1]
    if geom_xyz.dim() != features.dim() or geom_xyz.shape[:-1] != features.shape[:-1]:
        raise bad_param("geom_xyz", f"the points of input_features, {tuple(features.shape[:-1])}", tuple(geom_xyz.shape))
    points = math.prod(features.shape[1:-1])
    voxels = index32("geom_xyz", geom_xyz).reshape(batch, points, geom_xyz.shape[-1])
    return forward(voxels, features.reshape(batch, points, channels), *sizes)[0].permute(0, 3, 1, 2)
