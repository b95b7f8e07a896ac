"""CARAFE: content-aware upsampling."""

from typing import Optional, Tuple

from .._arguments import integer, renamed
from .._arrays import Array, floats, output, outputs, run
from .._errors import bad_param
from .._forms import Form
from .._functions.carafe import CARAFE_BACKWARD as BACKWARD, CARAFE_FORWARD as FORWARD

__all__ = ["carafe", "carafe_backward"]

def odd_kernel_of_groups(c: int, kernel_size: int, group_size: int, **_: int) -> None:
    if kernel_size % 2 == 0:
        raise bad_param("kernel_size", "an odd number", kernel_size)
    if c % group_size != 0:
        raise bad_param("features", f"channels divisible by group_size {group_size}", c)


_NUMBERS = "int kernel_size, int group_size, int scale_factor"
_FORWARD = Form(f"carafe(Tensor features, Tensor masks, {_NUMBERS})", FORWARD, rule=odd_kernel_of_groups)
_BACKWARD = Form(f"carafe_backward(Tensor features, Tensor masks, Tensor grad, {_NUMBERS})", BACKWARD,
                 rule=odd_kernel_of_groups)


def _numbers(kernel_size: int, group_size: int, scale_factor: int) -> tuple:
    return (integer("kernel_size", kernel_size), integer("group_size", group_size),
            integer("scale_factor", scale_factor))


@renamed(input="features", mask="masks")
def carafe(features: Array, masks: Array, kernel_size: int, group_size: int, scale_factor: int, *,
           out: Optional[Array] = None) -> Array:
    """Content-aware upsampling.

    output[n,y,x,c] = sum over kh,kw of masks[n,y,x,(g*K+kh)*K+kw] * features[n, y//s+kh-r, x//s+kw-r, c], with
    g = c // (C//G) and r = (K-1)//2; taps outside the map are skipped.

    Args:
        features: T [N, H, W, C]; C divisible by G.
        masks: T [N, s*H, s*W, G*K*K].
        kernel_size, group_size, scale_factor: K (odd), G, s.
        out: T [N, s*H, s*W, C].
    Returns: T [N, s*H, s*W, C].
    """
    x, m = floats(features=features, masks=masks)
    numbers = _numbers(kernel_size, group_size, scale_factor)
    y = output(out, "out", *_FORWARD.shapes(x, m, *numbers), x.dtype)
    run(FORWARD, (y,), (4, *numbers), x, m, y)
    return y


@renamed(input="features", mask="masks")
def carafe_backward(features: Array, masks: Array, grad_output: Array, kernel_size: int, group_size: int,
                    scale_factor: int, *, out: Optional[Tuple[Array, Array]] = None) -> Tuple[Array, Array]:
    """Gradients of carafe.

    Args:
        features, masks: as given to carafe.
        grad_output: T [N, s*H, s*W, C].
        out: grad_features T [N, H, W, C] and grad_masks T [N, s*H, s*W, G*K*K].
    Returns: grad_features, grad_masks; grad_masks is exactly 0 for taps outside the map.
    """
    x, m, g = floats(features=features, masks=masks, grad_output=grad_output)
    numbers = _numbers(kernel_size, group_size, scale_factor)
    shapes = _BACKWARD.shapes(x, m, g, *numbers)
    gx, gm = outputs(out, ("grad_features", "grad_masks"), shapes, (x.dtype, x.dtype))
    run(BACKWARD, (gx, gm), (4, *numbers), x, m, g, gx, gm)
    return gx, gm


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"carafe": lambda ones, zeros: carafe(ones(1, 2, 2, 1), ones(1, 2, 2, 1), 1, 1, 1)}
