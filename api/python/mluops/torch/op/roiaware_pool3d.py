"""roiaware_pool3d: the features of the points in each upright box, pooled voxel by voxel of the box."""

from typing import Sequence, Tuple, Union

import torch
from torch import Tensor, nn

from ..._arguments import at_least, integer
from ..._errors import bad_param
from ..._functions.roiaware_pool3d import ROIAWARE_POOL3D_BACKWARD as BACKWARD, ROIAWARE_POOL3D_FORWARD as FORWARD
from ..._shapes import expect, rank
from .._operator import operator
from .._tensors import floats, run

__all__ = ["RoIAwarePool3d", "roiaware_pool3d"]


def _fake(rois, pts, pts_feature, out_x, out_y, out_z, max_pts_per_voxel, mode):
    n, _ = rank("rois", rois.shape, 2)
    expect("rois", rois.shape, (n, 7), ("", "x, y, z, dx, dy, dz, rz"))
    points, _ = rank("pts", pts.shape, 2)
    expect("pts", pts.shape, (points, 3), ("", "x, y, z"))
    channels = rank("pts_feature", pts_feature.shape, 2)[1]
    expect("pts_feature", pts_feature.shape, (points, channels), ("the points of pts", ""))
    at_least(1, out_x=out_x, out_y=out_y, out_z=out_z, max_pts_per_voxel=max_pts_per_voxel)
    if mode not in (0, 1):
        raise bad_param("mode", "0 (max) or 1 (avg)", mode)
    voxels = n, out_x, out_y, out_z
    return (rois.new_empty((*voxels, channels)), rois.new_empty((*voxels, channels), dtype=torch.int32),
            rois.new_empty((*voxels, max_pts_per_voxel), dtype=torch.int32))


def _call(outputs, rois, pts, pts_feature, out_x, out_y, out_z, max_pts_per_voxel, mode):
    pooled, argmax, noted = outputs
    return run(FORWARD, mode, rois.shape[0], *pts_feature.shape, rois, pts, pts_feature, None, 0, max_pts_per_voxel,
               out_x, out_y, out_z, argmax, noted, pooled)


def _nothing_inside(outputs):
    outputs[0].zero_()
    outputs[1].fill_(-1)
    outputs[2].zero_()


def _gradient_fake(grad, argmax, noted, points, mode):
    n, x, y, z, channels = rank("grad", grad.shape, 5)
    expect("argmax", argmax.shape, (n, x, y, z, channels), ("that of grad",) * 5)
    expect("pts_idx_of_voxels", noted.shape, (n, x, y, z, noted.shape[-1]), ("that of grad",) * 5)
    at_least(0, points=points)
    return grad.new_empty((points, channels))


def _gradient_call(grad_in, grad, argmax, noted, points, mode):
    n, x, y, z, channels = grad.shape
    return run(BACKWARD, mode, n, x, y, z, channels, noted.shape[4], noted, argmax, grad, grad_in)


gradient = operator("roiaware_pool3d_backward(Tensor grad, Tensor argmax, Tensor pts_idx_of_voxels, SymInt points, "
                    "int mode) -> Tensor", _gradient_fake, _gradient_call)


def _setup(ctx, inputs, output):
    ctx.points, ctx.mode = inputs[1].shape[0], inputs[7]
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(*output[1:])


def _backward(ctx, grad, *_):
    return None, None, gradient(grad, *ctx.saved_tensors, ctx.points, ctx.mode), None, None, None, None, None


forward = operator("roiaware_pool3d(Tensor rois, Tensor pts, Tensor pts_feature, SymInt out_x, SymInt out_y, "
                   "SymInt out_z, SymInt max_pts_per_voxel, int mode) -> (Tensor, Tensor, Tensor)", _fake, _call,
                   setup=_setup, backward=_backward, empty=_nothing_inside)

_MODES = {"max": 0, "avg": 1, 0: 0, 1: 1}


def mode_number(mode: Union[int, str]) -> int:
    """0 for "max", 1 for "avg"."""
    if mode not in _MODES:
        raise bad_param("mode", '"max" (0) or "avg" (1)', mode)
    return _MODES[mode]


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
    return forward(*tensors, *_three(out_size), integer("max_pts_per_voxel", max_pts_per_voxel), mode_number(mode))[0]


class RoIAwarePool3d(nn.Module):
    """roiaware_pool3d as a module: forward(rois, pts, pts_feature)."""

    def __init__(self, out_size: Union[int, Sequence[int]], max_pts_per_voxel: int = 128,
                 mode: Union[int, str] = "max") -> None:
        super().__init__()
        self.out_size, self.max_pts_per_voxel, self.mode = out_size, max_pts_per_voxel, mode_number(mode)

    def forward(self, rois: Tensor, pts: Tensor, pts_feature: Tensor) -> Tensor:
        return roiaware_pool3d(rois, pts, pts_feature, self.out_size, self.max_pts_per_voxel, self.mode)


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"roiaware_pool3d": lambda ones, zeros: roiaware_pool3d(ones(1, 7), ones(1, 3), ones(1, 1), 1, 2)}
