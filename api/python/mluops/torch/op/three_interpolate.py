"""three_interpolate: points from three weighted neighbours each."""

import torch
from torch import Tensor

from ..._errors import NotSupportedError
from ..._functions.three_interpolate import (THREE_INTERPOLATE_BACKWARD as BACKWARD, THREE_INTERPOLATE_BACKWARD_WEIGHT as
                                             BACKWARD_WEIGHT, THREE_INTERPOLATE_FORWARD as FORWARD)
from .._blocks import described, floats, index32, rank, renamed

__all__ = ["three_interpolate"]


gradient = described("three_interpolate_backward(grad, indices, weight, points)", BACKWARD, names={"points": "m"})


def _call_weight_gradient(output, grad, features, indices):
    try:
        weight_gradient.form.call(output, grad, features, indices)
    except NotSupportedError:  # a backend that computes the other gradient alone, such as mlu_emu
        output.copy_(_composed_weight_gradient(grad, features, indices))


def _composed_weight_gradient(grad, features, indices):
    points, wide = features.shape[2], torch.promote_types(grad.dtype, torch.float32)
    inside = (indices >= 0) & (indices < points)
    safe = indices.clamp(0, points - 1).long()
    columns = [(features.gather(2, safe[:, None, :, j].expand_as(grad)).to(wide) * grad).sum(1) for j in range(3)]
    return torch.stack(columns, 2) * inside


weight_gradient = described("three_interpolate_weight_backward(grad, features, indices)", BACKWARD_WEIGHT,
                            call=_call_weight_gradient)


def _setup(ctx, inputs, output):
    features, indices, weight = inputs
    ctx.points = features.shape[2]
    ctx.save_for_backward(indices, weight, *([features] if ctx.needs_input_grad[2] else []))


def _backward(ctx, grad):
    indices, weight, *features = ctx.saved_tensors
    wanted = ctx.needs_input_grad
    grad_features = gradient(grad, indices, weight, ctx.points) if wanted[0] else None
    if not wanted[2]:
        return grad_features, None, None
    if ctx.points == 0:
        return grad_features, None, torch.zeros_like(weight)
    return grad_features, None, weight_gradient(grad, features[0], indices)


forward = described("three_interpolate(features, indices, weight)", FORWARD, gradient=gradient, setup=_setup,
                    backward=_backward, linear="features weight")


@renamed(weights="weight")
def three_interpolate(features: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    """Interpolates N points from three of M neighbours each.

    Args:
        features: T [B, C, M]; stacked, the points of all samples: T [M1 + M2 + ..., C].
        indices: int32 or int64 [B, N, 3]; one outside [0, M-1] drops that neighbour only. Stacked, [N1 + N2 + ..., 3],
            counted from the first point of all samples, as three_nn has them.
        weight: T [B, N, 3], not normalised; stacked, T [N1 + N2 + ..., 3].
    Returns: T [B, C, N], differentiable in features and weight; stacked, [N1 + N2 + ..., C], a view of
    [C, N1 + N2 + ...].

    Source: Qi et al., "PointNet++", 2017; stacked, that of OpenPCDet.
    """
    f, w = floats(features=features, weight=weight)
    i = index32("indices", indices, f.shape[-1 if f.dim() == 3 else 0])
    if f.dim() != 2:
        return forward(f, i, w)
    for name, tensor in (("indices", i), ("weight", w)):
        rank(name, tensor.shape, 2)
    return forward(f.t().unsqueeze(0), i.unsqueeze(0), w.unsqueeze(0)).squeeze(0).t()
