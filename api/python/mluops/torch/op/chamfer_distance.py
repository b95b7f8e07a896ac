"""chamfer_distance: how far the points of two sets in the plane are from the other set."""

from typing import Tuple

import torch
from torch import Tensor

from ..._functions.chamfer_distance import CHAMFER_DISTANCE_BACKWARD as BACKWARD, CHAMFER_DISTANCE_FORWARD as FORWARD
from .._blocks import described, floats

__all__ = ["chamfer_distance"]


def _nobody_near(outputs):
    """Points of an empty set are as far as mmcv starts."""
    for distances, indices in zip(outputs[:2], outputs[2:]):
        distances.fill_(1e10 if distances.dtype != torch.float16 else float("inf"))
        indices.zero_()


def _along(xyz, other, indices, tangent, other_tangent):
    """The tangent of the distances of points from those of another set with these indices."""
    wide = torch.promote_types(xyz.dtype, torch.float32)
    if other.shape[1] == 0:
        return xyz.new_zeros(xyz.shape[:2])
    at = indices.long().unsqueeze(2).expand(-1, -1, 2)
    moved = 0
    for mine, sign in ((tangent, 1), (None if other_tangent is None else other_tangent.gather(1, at), -1)):
        moved = moved if mine is None else moved + sign * mine.to(wide)
    return (2 * (xyz.to(wide) - other.gather(1, at).to(wide)) * moved).sum(2).to(xyz.dtype)


def _jvp(inputs, output, tangents):
    (xyz1, xyz2), (_, _, idx1, idx2), (one, two) = inputs, output, tangents
    return _along(xyz1, xyz2, idx1, one, two), _along(xyz2, xyz1, idx2, two, one), None, None


gradient = described("chamfer_distance_backward(xyz1, xyz2, idx1, idx2, grad1, grad2)", BACKWARD,
                     names={"grad1": "grad_dist1", "grad2": "grad_dist2"})
forward = described("chamfer_distance(xyz1, xyz2)", FORWARD, gradient=gradient, jvp=_jvp, empty=_nobody_near)


def chamfer_distance(xyz1: Tensor, xyz2: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    """For each point of two sets in the plane the nearest point of the other set.

    Args:
        xyz1: T [B, N, 2]; x, y.
        xyz2: T [B, M, 2].
    Returns: squared distances T [B, N] and [B, M], differentiable, and indices int32 [B, N] and [B, M] into the other
    set; of equally near points the lower index.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted.
    Source: Li et al., "Oriented RepPoints", 2022; mmcv's chamfer_distance.
    """
    return forward(*floats(xyz1=xyz1, xyz2=xyz2))
