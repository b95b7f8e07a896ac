"""BorderAlign: the largest of the samples along each border of a box."""

from typing import Optional, Tuple

import numpy as np

from .._arguments import integer
from .._arrays import Array, floats, index32, output, outputs, run
from .._errors import bad_param
from .._forms import Form
from .._functions.border_align import BORDER_ALIGN_BACKWARD as BACKWARD, BORDER_ALIGN_FORWARD as FORWARD

__all__ = ["border_align", "border_align_backward"]


def four_borders(channels: int, **_: int) -> None:
    if channels % 4 != 0:
        raise bad_param("input", "channels divisible by 4 (borders)", channels)


_FORWARD = Form("border_align(Tensor input, Tensor boxes, int pool_size)", FORWARD, rule=four_borders)
_BACKWARD = Form("border_align_backward(Tensor grad, Tensor boxes, Tensor argmax, int pool_size, SymInt height, "
                 "SymInt width)", BACKWARD, names={"height": "h", "width": "w"}, sizes={"c": None, "channels": lambda c, **_: 4 * c})


def border_align(input: Array, boxes: Array, pool_size: int, *,
                 out: Optional[Tuple[Array, Array]] = None) -> Tuple[Array, Array]:
    """Maximum of pool_size+1 bilinear samples along each border of each box.

    Args:
        input: T [N, H, W, 4*C]; channel border*C+c, borders top, left, bottom, right.
        boxes: T [N, K, 4]: x1, y1, x2, y2.
        pool_size: samples per border less one, >= 1.
        out: output T [N, K, 4, C] and argmax int32 [N, K, 4, C].
    Returns: output T [N, K, 4, C] and argmax int32 [N, K, 4, C], the number of the first maximum.
    """
    x, b = floats(input=input, boxes=boxes)
    pool = integer("pool_size", pool_size)
    y, argmax = outputs(out, ("output", "argmax"), _FORWARD.shapes(x, b, pool), (x.dtype, np.int32))
    run(FORWARD, (y, argmax), x, b, pool, y, argmax)
    return y, argmax


def border_align_backward(grad_output: Array, boxes: Array, argmax: Array, pool_size: int, height: int, width: int, *,
                          out: Optional[Array] = None) -> Array:
    """Gradient of border_align with respect to input.

    Args:
        grad_output: T [N, K, 4, C].
        boxes, pool_size: as given to border_align.
        argmax: int32 [N, K, 4, C], from border_align.
        height, width: H, W of the input.
        out: T [N, H, W, 4*C].
    Returns: T [N, H, W, 4*C].
    """
    g, b = floats(grad_output=grad_output, boxes=boxes)
    a, pool = index32("argmax", argmax), integer("pool_size", pool_size)
    size = integer("height", height), integer("width", width)
    gx = output(out, "out", *_BACKWARD.shapes(g, b, a, pool, *size), g.dtype)
    run(BACKWARD, (gx,), g, b, a, pool, gx)
    return gx


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"border_align": lambda ones, zeros: border_align(ones(1, 1, 1, 4), ones(1, 1, 4), 1)}
