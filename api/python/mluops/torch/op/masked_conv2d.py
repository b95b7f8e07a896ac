"""masked_conv2d: convolution at some pixels; MaskedConv2d, the module. A composition of torch operators, no kernel of
the library."""

from typing import Optional, Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn.modules.utils import _pair

from ..._errors import bad_param
from ..._shapes import expect, rank
from .._tensors import floats

__all__ = ["MaskedConv2d", "masked_conv2d"]


def columns(image: Tensor, rows: Tensor, cols: Tensor, kernel: Tuple[int, int], padding: Tuple[int, int]) -> Tensor:
    """The windows [C * kh * kw, P] of an image [1, C, H, W] whose first pixels are rows, cols [P] minus the padding."""
    height, width = image.shape[2:]
    y = rows[None] - padding[0] + torch.arange(kernel[0], device=image.device)[:, None]  # [kh, P]
    x = cols[None] - padding[1] + torch.arange(kernel[1], device=image.device)[:, None]
    inside = ((y >= 0) & (y < height))[:, None] & ((x >= 0) & (x < width))[None]
    at = (y.clamp(0, height - 1) * width)[:, None] + x.clamp(0, width - 1)[None]  # [kh, kw, P]
    found = image[0].flatten(1)[:, at.flatten()].reshape(image.shape[1], *at.shape)
    return found.masked_fill(~inside, 0).flatten(0, 2)


def masked_conv2d(features: Tensor, mask: Tensor, weight: Tensor, bias: Tensor,
                  padding: Union[int, Tuple[int, int]] = 0, stride: Union[int, Tuple[int, int]] = 1) -> Tensor:
    """Convolution at the pixels of a mask, in time that grows with their number. Composed of torch operators.

    Args:
        features: T [1, C, H, W].
        mask: [1, H, W]; output pixels where it is above 0 are computed.
        weight: T [M, C, kh, kw].
        bias: T [M].
        padding: zeros around the image.
        stride: 1.
    Returns: T [1, M, H + 2 p - kh + 1, W + 2 p - kw + 1]; 0 off the mask. Differentiable in features, weight and bias
    (in mmcv in none of them).

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are computed in float.
    Source: mmcv's masked_conv2d.
    """
    features, weight, bias = floats(features=features, weight=weight, bias=bias)
    _, channels, height, width = rank("features", features.shape, 4)
    expect("features", features.shape, (1, channels, height, width), ("one image", "", "", ""))
    expect("mask", mask.shape, (1, height, width), ("one image",) + ("that of features",) * 2)
    out, _, kh, kw = rank("weight", weight.shape, 4)
    expect("weight", weight.shape, (out, channels, kh, kw), ("", "the channels of features", "", ""))
    expect("bias", bias.shape, (out,), ("the outputs of weight",))
    if _pair(stride) != (1, 1):
        raise bad_param("stride", 1, stride)
    pad_y, pad_x = _pair(padding)
    size = height + 2 * pad_y - kh + 1, width + 2 * pad_x - kw + 1
    if min(pad_y, pad_x) < 0 or min(size) < 1:
        raise bad_param("padding", f"at least 0, and outputs of the {kh} x {kw} filter on {height} x {width}", padding)
    rows, cols = (mask[0] > 0)[:size[0], :size[1]].nonzero().unbind(1)
    dtype = features.dtype
    if dtype in (torch.float16, torch.bfloat16):
        features, weight, bias = features.float(), weight.float(), bias.float()
    values = torch.addmm(bias[:, None], weight.flatten(1), columns(features, rows, cols, (kh, kw), (pad_y, pad_x)))
    result = features.new_zeros(out, size[0] * size[1])
    return result.index_copy(1, rows * size[1] + cols, values).reshape(1, out, *size).to(dtype)


class MaskedConv2d(nn.Conv2d):
    """nn.Conv2d with a mask: forward(input, mask=None), without one the whole convolution; with one, stride 1, dilation
    1 and one group, as in mmcv."""

    def forward(self, input: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        if mask is None:
            return super().forward(input)
        if self.dilation != (1, 1) or self.groups != 1:
            raise bad_param("mask", "a filter of dilation 1 and one group with it", (self.dilation, self.groups))
        bias = self.weight.new_zeros(self.out_channels) if self.bias is None else self.bias
        return masked_conv2d(input, mask, self.weight, bias, self.padding, self.stride)


SMALLEST: dict = {}  # no operator of the library
