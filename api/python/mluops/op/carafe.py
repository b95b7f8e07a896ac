"""CARAFE: content-aware upsampling."""

from typing import Optional, Tuple

from .._arguments import at_least, integer, renamed
from .._arrays import Array, floats, output, outputs, run
from .._errors import bad_param
from .._functions.carafe import CARAFE_BACKWARD as BACKWARD, CARAFE_FORWARD as FORWARD
from .._shapes import NHWC as ARRAYS
from .._shapes import Order, Shape

__all__ = ["carafe", "carafe_backward"]

# dimNb, kernel_size, group_size, scale_factor


_MASKS = ("the batch of features", "group_size * kernel_size^2", "scale_factor * height of features",
          "scale_factor * width of features")
_OUTPUT = ("the batch of features", "the channels of features", *_MASKS[2:])


def odd_kernel_of_groups(c: int, kernel_size: int, group_size: int, **_: int) -> None:
    if kernel_size % 2 == 0:
        raise bad_param("kernel_size", "an odd number", kernel_size)
    if c % group_size != 0:
        raise bad_param("features", f"channels divisible by group_size {group_size}", c)


def output_shape(order: Order, features: Shape, masks: Shape, kernel_size: int, group_size: int,
                 scale_factor: int) -> Shape:
    n, c, h, w = order.dims("features", features)
    at_least(1, kernel_size=kernel_size, group_size=group_size, scale_factor=scale_factor)
    odd_kernel_of_groups(c, kernel_size, group_size)
    high, wide = h * scale_factor, w * scale_factor
    order.expect("masks", masks, (n, group_size * kernel_size * kernel_size, high, wide), _MASKS)
    return order.shape(n, c, high, wide)


def check_gradients(order: Order, grad_output: Shape, features: Shape, masks: Shape, kernel_size: int,
                    group_size: int, scale_factor: int) -> None:
    """The gradients have the shapes of features and masks."""
    wanted = output_shape(order, features, masks, kernel_size, group_size, scale_factor)
    order.expect("grad_output", grad_output, order.dims("output", wanted), _OUTPUT)


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
    y = output(out, "out", output_shape(ARRAYS, x.shape, m.shape, *numbers), x.dtype)
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
    check_gradients(ARRAYS, g.shape, x.shape, m.shape, *numbers)
    gx, gm = outputs(out, ("grad_features", "grad_masks"), (x.shape, m.shape), (x.dtype, x.dtype))
    run(BACKWARD, (gx, gm), (4, *numbers), x, m, g, gx, gm)
    return gx, gm


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"carafe": lambda ones, zeros: carafe(ones(1, 2, 2, 1), ones(1, 2, 2, 1), 1, 1, 1)}
