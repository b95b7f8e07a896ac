"""correlation: products of an image's pixels with those around the same place in another; Correlation, the module."""

from typing import Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn.modules.utils import _pair

from ..._errors import bad_param
from ..._functions.correlation import CORRELATION_BACKWARD as BACKWARD, CORRELATION_FORWARD as FORWARD
from ..._shapes import expect, rank
from .._operator import linear_tangent, operator
from .._tensors import floats, in_order_of, new_image, run

__all__ = ["Correlation", "correlation"]

Pair = Union[int, Tuple[int, int]]

NUMBERS = ("kernel_h", "kernel_w", "max_displacement", "stride_h", "stride_w", "pad_h", "pad_w", "dilation_h",
           "dilation_w", "dilation_patch_h", "dilation_patch_w")
_SCHEMA = ", ".join(f"int {name}" for name in NUMBERS)


def _shape(input1, input2, kernel_h, kernel_w, max_displacement, stride_h, stride_w, pad_h, pad_w, dilation_h,
           dilation_w, dilation_patch_h, dilation_patch_w):
    """The shape of the output. Error texts name the arguments of the public function."""
    n, _, height, width = rank("input1", input1.shape, 4)
    expect("input2", input2.shape, input1.shape, ("that of input1",) * 4)
    for name, pair, least in (("kernel_size", (kernel_h, kernel_w), 1), ("stride", (stride_h, stride_w), 1),
                              ("padding", (pad_h, pad_w), 0), ("dilation", (dilation_h, dilation_w), 1),
                              ("dilation_patch", (dilation_patch_h, dilation_patch_w), 1)):
        if min(pair) < least:
            raise bad_param(name, f"at least {least}", pair)
    if max_displacement < 0:
        raise bad_param("max_displacement", "at least 0", max_displacement)
    rows = (height + 2 * pad_h - (kernel_h - 1) * dilation_h - 1) // stride_h + 1
    columns = (width + 2 * pad_w - (kernel_w - 1) * dilation_w - 1) // stride_w + 1
    if rows < 1 or columns < 1:
        raise bad_param("kernel_size", f"a window inside of {height} x {width} and its padding", (kernel_h, kernel_w))
    return n, 2 * max_displacement + 1, 2 * max_displacement + 1, rows, columns


def _gradient_fake(grad, input1, input2, *numbers):
    expect("grad_output", grad.shape, _shape(input1, input2, *numbers),
           ("the number of images", *("2 max_displacement + 1",) * 2, "the windows down", "the windows across"))
    return tuple(new_image((input1, input2), tuple(input1.shape)) for _ in range(2))


def _gradient_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:3])
    ctx.numbers = inputs[3:]


def _gradient_backward(ctx, along1, along2):
    """grad_input1 is linear in grad_output and input2, grad_input2 in grad_output and input1."""
    (grad, input1, input2), numbers = ctx.saved_tensors, ctx.numbers
    along1, along2 = (torch.zeros_like(input1) if along is None else along for along in (along1, along2))
    return (forward(along1, input2, *numbers) + forward(input1, along2, *numbers),
            gradient(grad, input1, along2, *numbers)[0], gradient(grad, along1, input2, *numbers)[1],
            *(None,) * len(numbers))


gradient = operator(f"correlation_backward(Tensor grad, Tensor input1, Tensor input2, {_SCHEMA}) -> (Tensor, Tensor)",
                    _gradient_fake, lambda outputs, *inputs: run(BACKWARD, *inputs, *outputs),
                    setup=_gradient_setup, backward=_gradient_backward)


def _setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:2])
    ctx.numbers = inputs[2:]


def _backward(ctx, grad):
    return (*gradient(grad, *ctx.saved_tensors, *ctx.numbers), *(None,) * len(ctx.numbers))


forward = operator(f"correlation(Tensor input1, Tensor input2, {_SCHEMA}) -> Tensor",
                   lambda input1, input2, *numbers: input1.new_empty(_shape(input1, input2, *numbers)),
                   lambda output, *inputs: run(FORWARD, *inputs, output), setup=_setup, backward=_backward,
                   jvp=lambda inputs, output, tangents: linear_tangent(forward, inputs, tangents, (0, 1)))


def correlation(input1: Tensor, input2: Tensor, kernel_size: Pair = 1, max_displacement: int = 1, stride: Pair = 1,
                padding: Pair = 1, dilation: Pair = 1, dilation_patch: Pair = 1) -> Tensor:
    """Sums of products of windows of one image with displaced windows of another.

    Args:
        input1, input2: T [N, C, H, W].
        kernel_size, stride, padding, dilation: those of the window, as a convolution's.
        max_displacement, dilation_patch: displacements are -max to max steps of dilation_patch pixels.
    Returns: T [N, P, P, Ho, Wo], P = 2 max_displacement + 1. Differentiable in both, twice. (mmcv's gradients leave
    dilation_patch out of the displacements' middle.)

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. NCHW and channels_last tensors are used where
    they lie. Source: Dosovitskiy et al., "FlowNet", ICCV 2015; mmcv's correlation; mluOpExtCorrelationForward.
    """
    first, second = floats(input1=input1, input2=input2)
    return forward(first, in_order_of(first, second), *_pair(kernel_size), max_displacement, *_pair(stride),
                   *_pair(padding), *_pair(dilation), *_pair(dilation_patch))


class Correlation(nn.Module):
    """correlation as a module, with padding 0 unless told: forward(input1, input2)."""

    def __init__(self, kernel_size: int = 1, max_displacement: int = 1, stride: int = 1, padding: int = 0,
                 dilation: int = 1, dilation_patch: int = 1) -> None:
        super().__init__()
        self.kernel_size, self.max_displacement, self.stride = kernel_size, max_displacement, stride
        self.padding, self.dilation, self.dilation_patch = padding, dilation, dilation_patch

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return correlation(input1, input2, self.kernel_size, self.max_displacement, self.stride, self.padding,
                           self.dilation, self.dilation_patch)


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"correlation": lambda ones, zeros: correlation(ones(1, 1, 2, 2), ones(1, 1, 2, 2))}
