"""PSAMask: point-wise spatial attention."""

from typing import Optional

from .._arguments import PsaType, Size, at_least, pair, psa_type_number, renamed
from .._arrays import Array, floats, output, run
from .._errors import bad_param
from .._functions.psamask import PSAMASK_BACKWARD as BACKWARD, PSAMASK_FORWARD as FORWARD
from .._shapes import NHWC as ARRAYS
from .._shapes import Order, Shape

__all__ = ["psa_mask", "psa_mask_backward"]


def _check_numbers(psa_type: int, h_mask: int, w_mask: int) -> None:
    if psa_type not in (0, 1):
        raise bad_param("psa_type", '"collect" (0) or "distribute" (1)', psa_type)
    at_least(0, h_mask=h_mask, w_mask=w_mask)


def output_shape(order: Order, input: Shape, psa_type: int, h_mask: int, w_mask: int) -> Shape:
    n, c, h, w = order.dims("input", input)
    _check_numbers(psa_type, h_mask, w_mask)
    order.expect("input", input, (n, h_mask * w_mask, h, w), ("", "h_mask * w_mask", "", ""))
    return order.shape(n, h * w, h, w)


def grad_input_shape(order: Order, grad_output: Shape, psa_type: int, h_mask: int, w_mask: int) -> Shape:
    n, c, h, w = order.dims("grad_output", grad_output)
    _check_numbers(psa_type, h_mask, w_mask)
    order.expect("grad_output", grad_output, (n, h * w, h, w), ("", "height * width", "", ""))
    return order.shape(n, h_mask * w_mask, h, w)


@renamed(x="input")
def psa_mask(input: Array, psa_type: PsaType, mask_size: Size, *, out: Optional[Array] = None) -> Array:
    """Point-wise spatial attention: lays the mask of every pixel over the feature map.

    For every pixel (h,w) and mask cell (i,j) whose target (p,q) = (h+i-(hm-1)//2, w+j-(wm-1)//2) is in the map,
    collect: output[n,h,w,p*W+q] = input[n,h,w,i*wm+j]; distribute: output[n,p,q,h*W+w] = input[n,h,w,i*wm+j]; other
    outputs are 0.

    Args:
        input: T [N, H, W, hm*wm]; float32, under the extended contract any float type.
        psa_type: "collect" (0) or "distribute" (1).
        mask_size: hm, wm, or one number for both.
        out: T [N, H, W, H*W].
    Returns: T [N, H, W, H*W].
    """
    x, = floats(input=input)
    kind, (hm, wm) = psa_type_number(psa_type), pair("mask_size", mask_size)
    y = output(out, "out", output_shape(ARRAYS, x.shape, kind, hm, wm), x.dtype)
    run(FORWARD, (y,), kind, x, hm, wm, y)
    return y


def psa_mask_backward(grad_output: Array, psa_type: PsaType, mask_size: Size, *,
                      out: Optional[Array] = None) -> Array:
    """Gradient of psa_mask: T [N, H, W, hm*wm] from grad_output T [N, H, W, H*W]."""
    g, = floats(grad_output=grad_output)
    kind, (hm, wm) = psa_type_number(psa_type), pair("mask_size", mask_size)
    gx = output(out, "out", grad_input_shape(ARRAYS, g.shape, kind, hm, wm), g.dtype)
    run(BACKWARD, (gx,), kind, g, hm, wm, gx)
    return gx


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"psa_mask": lambda ones, zeros: psa_mask(ones(1, 1, 1, 1), 0, 1)}
