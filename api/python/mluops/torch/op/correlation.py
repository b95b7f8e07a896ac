"""correlation: products of an image's pixels with those around the same place in another; Correlation, the module. A
composition of torch operators, no kernel of the library."""

from typing import Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.utils import _pair

from ..._errors import bad_param
from ..._shapes import expect, rank
from .._tensors import floats

__all__ = ["Correlation", "correlation"]

Pair = Union[int, Tuple[int, int]]


def _products(first: Tensor, second: Tensor, dy: int, dx: int) -> Tensor:
    """[N, H, W]: each pixel of the first with the one dy, dx further in the second; 0 where that is outside."""
    height, width = first.shape[2:]
    if abs(dy) >= height or abs(dx) >= width:
        return first.new_zeros(first.shape[0], height, width)
    top, bottom, left, right = max(-dy, 0), max(dy, 0), max(-dx, 0), max(dx, 0)
    both = first[:, :, top:height - bottom, left:width - right] * second[:, :, bottom:height - top, right:width - left]
    return F.pad(both.sum(1), (left, right, top, bottom))


def correlation(input1: Tensor, input2: Tensor, kernel_size: Pair = 1, max_displacement: int = 1, stride: Pair = 1,
                padding: Pair = 1, dilation: Pair = 1, dilation_patch: Pair = 1) -> Tensor:
    """Sums of products of windows of one image with displaced windows of another. Composed of torch operators.

    Args:
        input1, input2: T [N, C, H, W].
        kernel_size, stride, padding, dilation: those of the window, as a convolution's.
        max_displacement, dilation_patch: displacements are -max to max steps of dilation_patch pixels.
    Returns: T [N, P, P, Ho, Wo], P = 2 max_displacement + 1. Differentiable in both. (mmcv's gradients leave
    dilation_patch out of the displacements' middle.)

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are computed in float. Source: mmcv's
    correlation.
    """
    first, second = floats(input1=input1, input2=input2)
    n, _, height, width = rank("input1", first.shape, 4)
    expect("input2", second.shape, first.shape, ("that of input1",) * 4)
    kernel, stride, padding, dilation, step = map(_pair, (kernel_size, stride, padding, dilation, dilation_patch))
    for name, pair, least in (("kernel_size", kernel, 1), ("stride", stride, 1), ("padding", padding, 0),
                              ("dilation", dilation, 1), ("dilation_patch", step, 1)):
        if min(pair) < least:
            raise bad_param(name, f"at least {least}", pair)
    if max_displacement < 0:
        raise bad_param("max_displacement", "at least 0", max_displacement)
    size = tuple((length + 2 * padding[i] - (kernel[i] - 1) * dilation[i] - 1) // stride[i] + 1
                 for i, length in enumerate((height, width)))
    if min(size) < 1:
        raise bad_param("kernel_size", f"a window inside of {height} x {width} and its padding", kernel)
    dtype = first.dtype
    if dtype in (torch.float16, torch.bfloat16):
        first, second = first.float(), second.float()
    steps = range(-max_displacement, max_displacement + 1)
    products = torch.stack([_products(first, second, dy * step[0], dx * step[1]) for dy in steps for dx in steps], 1)
    if kernel != (1, 1) or stride != (1, 1) or padding != (0, 0):
        products = F.conv2d(products.reshape(-1, 1, height, width), products.new_ones(1, 1, *kernel), None, stride,
                            padding, dilation)
    return products.reshape(n, len(steps), len(steps), *size).to(dtype)


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


SMALLEST: dict = {}  # no operator of the library
