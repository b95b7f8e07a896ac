"""upfirdn2d: zeros between the pixels, padding, a filter, every few pixels of the result."""

from typing import Any, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor

from ..._errors import BadParamError
from ..._functions.upfirdn2d import UPFIRDN2D
from .._blocks import Size, bad_param, described, floats, integer, pair

__all__ = ["upfirdn2d"]


def _fits(h, w, fh, fw, up_x, up_y, pad_x0, pad_x1, pad_y0, pad_y1, **_):
    if h < 1 or w < 1:
        raise bad_param("input", "height and width of at least 1", (h, w))
    if fh < 1 or fw < 1:
        raise bad_param("filter", "height and width of at least 1", (fh, fw))
    rows, columns = h * up_y + pad_y0 + pad_y1, w * up_x + pad_x0 + pad_x1
    if fh > rows or fw > columns:
        raise bad_param("filter", f"at most {rows} x {columns}, the padded input", [fh, fw])


def _setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[1])
    ctx.numbers, ctx.shapes = inputs[2:], (inputs[0].shape, output.shape)


def _backward(ctx, grad):
    """The operator on the gradient: up and down changed places, the filter turned round, padding that gives input's
    size. It is differentiated the same way."""
    filter, = ctx.saved_tensors
    up_x, up_y, down_x, down_y, x0, _, y0, _, flip, gain = ctx.numbers
    (_, _, h, w), (_, _, out_h, out_w) = ctx.shapes
    fh, fw = filter.shape
    pads = (fw - 1 - x0, w * up_x - out_w * down_x + x0 - up_x + 1, fh - 1 - y0, h * up_y - out_h * down_y + y0 - up_y + 1)
    return (forward(grad, filter, down_x, down_y, up_x, up_y, *pads, not flip, gain), *(None,) * 11)


forward = described("upfirdn2d(input, filter, up_x, up_y, down_x, down_y, pad_x0, pad_x1, pad_y0, pad_y1, "
                    "flip_filter, gain)", UPFIRDN2D, linear="input filter", rule=_fits, setup=_setup,
                    backward=_backward)


def _padding(padding: Union[int, Sequence[int]]) -> Tuple[int, ...]:
    each: Any = tuple(padding) if isinstance(padding, (list, tuple)) else (padding,) * 4
    each = (each[0], each[0], each[1], each[1]) if len(each) == 2 else each
    if len(each) != 4:
        raise bad_param("padding", "one number, (x, y) or (x0, x1, y0, y1)", padding)
    return tuple(integer("padding", number) for number in each)


def upfirdn2d(input: Tensor, filter: Optional[Tensor], up: Size = 1, down: Size = 1,
              padding: Union[int, Sequence[int]] = 0, flip_filter: bool = False, gain: float = 1.0) -> Tensor:
    """Zeros between the pixels, padding, a filter, and every few pixels of what comes out; each channel by itself.

    Args:
        input: T [N, C, H, W].
        filter: [FH, FW], used in the type of input; or [F], which filters columns and rows one after the other; or
            None, the filter of one 1. It has no gradient: one that requires it is refused.
        up, down: each pixel becomes `up` pixels, all but the first 0; of the result one pixel of `down` is kept.
            One number, or (x, y).
        padding: zeros around what came of `up`, cut off where negative: one number, (x, y) or (x0, x1, y0, y1).
        flip_filter: a correlation in place of a convolution.
        gain: multiplies the result.
    Returns: T [N, C, (H up + y0 + y1 - FH) // down + 1, likewise]. Differentiable in input any number of times.

    T: float16, bfloat16, float32, float64. NCHW and channels_last tensors are used where they lie. Source: Karras et
    al., "Analyzing and Improving the Image Quality of StyleGAN", CVPR 2020; upfirdn2d of StyleGAN3;
    mluOpExtUpfirdn2d.
    """
    (up_x, up_y), (down_x, down_y) = pair("up", up, 1), pair("down", down, 1)
    x0, x1, y0, y1 = _padding(padding)
    x, = floats(input=input)
    f = x.new_ones(1, 1) if filter is None else floats(filter=filter)[0].to(x.dtype)
    if f.requires_grad and torch.is_grad_enabled():
        raise BadParamError.of("filter: wanted one that needs no gradient, which upfirdn2d does not compute (filter.detach())")
    if f.dim() == 1:
        x = forward(x, f[None], up_x, 1, down_x, 1, x0, x1, 0, 0, flip_filter, float(gain))
        return forward(x, f[:, None], 1, up_y, 1, down_y, 0, 0, y0, y1, flip_filter, 1.0)
    return forward(x, f, up_x, up_y, down_x, down_y, x0, x1, y0, y1, flip_filter, float(gain))
