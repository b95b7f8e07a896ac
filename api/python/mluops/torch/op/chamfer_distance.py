"""chamfer_distance: how far the points of two sets in the plane are from the other set."""

from typing import Tuple

import torch
from torch import Tensor

from ..._functions.chamfer_distance import CHAMFER_DISTANCE_BACKWARD as BACKWARD, CHAMFER_DISTANCE_FORWARD as FORWARD
from ..._shapes import expect, rank
from .._operator import operator
from .._tensors import floats, run

__all__ = ["chamfer_distance"]


def _sizes(xyz1, xyz2):
    b, n, _ = rank("xyz1", xyz1.shape, 3)
    expect("xyz1", xyz1.shape, (b, n, 2), ("", "", "x, y"))
    m = rank("xyz2", xyz2.shape, 3)[1]
    expect("xyz2", xyz2.shape, (b, m, 2), ("the batch of xyz1", "", "x, y"))
    return b, n, m


def _fake(xyz1, xyz2):
    b, n, m = _sizes(xyz1, xyz2)
    return (xyz1.new_empty((b, n)), xyz1.new_empty((b, m)), xyz1.new_empty((b, n), dtype=torch.int32),
            xyz1.new_empty((b, m), dtype=torch.int32))


def _nobody_near(outputs):
    """Points of an empty set are as far as mmcv starts."""
    for distances, indices in zip(outputs[:2], outputs[2:]):
        distances.fill_(1e10 if distances.dtype != torch.float16 else float("inf"))
        indices.zero_()


def _gradient_fake(xyz1, xyz2, idx1, idx2, grad1, grad2):
    b, n, m = _sizes(xyz1, xyz2)
    for name, tensor, count in (("idx1", idx1, n), ("idx2", idx2, m), ("grad1", grad1, n), ("grad2", grad2, m)):
        expect(name, tensor.shape, (b, count), ("the batch", "the points"))
    return xyz1.new_empty(xyz1.shape), xyz1.new_empty(xyz2.shape)


gradient = operator("chamfer_distance_backward(Tensor xyz1, Tensor xyz2, Tensor idx1, Tensor idx2, Tensor grad1, "
                    "Tensor grad2) -> (Tensor, Tensor)", _gradient_fake,
                    lambda outputs, *inputs: run(BACKWARD, *inputs, *outputs))


def _setup(ctx, inputs, output):
    ctx.mark_non_differentiable(*output[2:])
    ctx.save_for_backward(*inputs, *output[2:])


def _backward(ctx, grad1, grad2, *_):
    xyz1, xyz2, idx1, idx2 = ctx.saved_tensors
    grad1, grad2 = (xyz1.new_zeros(idx.shape) if grad is None else grad for grad, idx in ((grad1, idx1), (grad2, idx2)))
    return gradient(xyz1, xyz2, idx1, idx2, grad1, grad2)


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


forward = operator("chamfer_distance(Tensor xyz1, Tensor xyz2) -> (Tensor, Tensor, Tensor, Tensor)", _fake,
                   lambda outputs, xyz1, xyz2: run(FORWARD, xyz1, xyz2, *outputs), setup=_setup, backward=_backward,
                   jvp=_jvp, empty=_nobody_near)


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


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"chamfer_distance": lambda ones, zeros: chamfer_distance(ones(1, 1, 2), ones(1, 1, 2))}
