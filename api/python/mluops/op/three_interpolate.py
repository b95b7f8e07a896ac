"""three_interpolate: points from three weighted neighbours each."""

from typing import Optional

from .._arguments import integer, renamed
from .._arrays import Array, floats, index32, output, run
from .._forms import Form
from .._functions.three_interpolate import (THREE_INTERPOLATE_BACKWARD as BACKWARD, THREE_INTERPOLATE_BACKWARD_WEIGHT as
                                            BACKWARD_WEIGHT, THREE_INTERPOLATE_FORWARD as FORWARD)

__all__ = ["three_interpolate", "three_interpolate_backward", "three_interpolate_backward_weight"]


_FORWARD = Form("three_interpolate(Tensor features, Tensor indices, Tensor weight)", FORWARD)
_BACKWARD = Form("three_interpolate_backward(Tensor grad, Tensor indices, Tensor weight, SymInt points)", BACKWARD,
                 names={"points": "m"})
_BACKWARD_WEIGHT = Form("three_interpolate_backward_weight(Tensor grad, Tensor features, Tensor indices)",
                        BACKWARD_WEIGHT)


@renamed(weights="weight")
def three_interpolate(features: Array, indices: Array, weight: Array, *, out: Optional[Array] = None) -> Array:
    """Interpolates N points from three of M neighbours each.

    output[b,c,n] = sum over j of weight[b,n,j] * features[b,c,indices[b,n,j]]; an index outside [0,M-1] drops
    that neighbour only.

    Args:
        features: T [B, C, M].
        indices: int32 or int64 [B, N, 3].
        weight: T [B, N, 3], not normalised.
        out: T [B, C, N].
    Returns: T [B, C, N].
    """
    f, w = floats(features=features, weight=weight)
    i = index32("indices", indices)
    y = output(out, "out", *_FORWARD.shapes(f, i, w), f.dtype)
    run(FORWARD, (y,), f, i, w, y)
    return y


@renamed(weights="weight")
def three_interpolate_backward(grad_output: Array, indices: Array, weight: Array, points: int, *,
                               out: Optional[Array] = None) -> Array:
    """Gradient of three_interpolate with respect to features.

    Args:
        grad_output: T [B, C, N].
        indices, weight: as given to three_interpolate.
        points: M.
        out: T [B, C, M].
    Returns: T [B, C, M].
    """
    g, w = floats(grad_output=grad_output, weight=weight)
    i = index32("indices", indices)
    gf = output(out, "out", *_BACKWARD.shapes(g, i, w, integer("points", points)), g.dtype)
    run(BACKWARD, (gf,), g, i, w, gf)
    return gf


def three_interpolate_backward_weight(grad_output: Array, features: Array, indices: Array, *,
                                      out: Optional[Array] = None) -> Array:
    """Gradient of three_interpolate with respect to weight.

    Args:
        grad_output: T [B, C, N].
        features, indices: as given to three_interpolate.
        out: T [B, N, 3].
    Returns: T [B, N, 3]; 0 where an index is outside [0, M-1].
    """
    g, f = floats(grad_output=grad_output, features=features)
    i = index32("indices", indices)
    gw = output(out, "out", *_BACKWARD_WEIGHT.shapes(g, f, i), g.dtype)
    run(BACKWARD_WEIGHT, (gw,), g, f, i, gw)
    return gw


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {
    "three_interpolate": lambda ones, zeros: three_interpolate(ones(1, 1, 1), zeros(1, 1, 3), ones(1, 1, 3))}
