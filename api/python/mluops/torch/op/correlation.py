"""correlation: products of an image's pixels with those around the same place in another; Correlation, the module."""

import torch
from torch import Tensor, nn

from ..._functions.correlation import CORRELATION_BACKWARD as BACKWARD, CORRELATION_FORWARD as FORWARD
from ..._shapes import windows
from .._blocks import Size, bad_param, described, floats, in_order_of, integer, pair

__all__ = ["Correlation", "correlation"]


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


_NUMBERS = ("kernel_h, kernel_w, max_displacement, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,"
            " dilation_patch_h, dilation_patch_w")


def _some_window(h, w, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, **_):
    if not (windows(h, kernel_h, pad_h, dilation_h, stride_h) and windows(w, kernel_w, pad_w, dilation_w, stride_w)):
        raise bad_param("kernel_size", f"a window inside of {h} x {w} and its padding", (kernel_h, kernel_w))


gradient = described(f"correlation_backward(grad, input1, input2, {_NUMBERS})", BACKWARD, rule=_some_window,
                     setup=_gradient_setup, backward=_gradient_backward)
forward = described(f"correlation(input1, input2, {_NUMBERS})", FORWARD, rule=_some_window, gradient=gradient,
                    linear="input1 input2")


def correlation(input1: Tensor, input2: Tensor, kernel_size: Size = 1, max_displacement: int = 1, stride: Size = 1,
                padding: Size = 1, dilation: Size = 1, dilation_patch: Size = 1) -> Tensor:
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
    return forward(first, in_order_of(first, second), *pair("kernel_size", kernel_size, 1),
                   integer("max_displacement", max_displacement), *pair("stride", stride, 1), *pair("padding", padding, 0),
                   *pair("dilation", dilation, 1), *pair("dilation_patch", dilation_patch, 1))


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
