"""Deformable convolution, v1 and v2, composed of torch's operators."""

from typing import Optional, Tuple

import torch
from torch import Tensor
from torch.nn import functional as F

from .._errors import bad_param

Pair = Tuple[int, int]


def pair(value) -> Pair:
    return (value, value) if isinstance(value, int) else tuple(value)


def _sampling_grid(offset: Tensor, size: Pair, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair) -> Tensor:
    """Where each tap of each output samples, as grid_sample counts: T [B * G, taps * Ho, Wo, 2] of x, y in [-1, 1]."""
    batch, _, out_h, out_w = offset.shape
    moved = offset.view(batch, -1, kernel[0] * kernel[1], 2, out_h, out_w)
    axes = []
    for axis, (extent, out, shape) in enumerate(((size[0], out_h, (-1, 1)), (size[1], out_w, (1, -1)))):
        start = torch.arange(out, dtype=offset.dtype).view(shape) * stride[axis] - padding[axis]
        taps = torch.arange(kernel[axis], dtype=offset.dtype) * dilation[axis]
        tap = (taps[:, None].expand(kernel) if axis == 0 else taps.expand(kernel)).reshape(-1, 1, 1)
        axes.append((2 * (start + tap + moved[:, :, :, axis]) + 1) / extent - 1)
    return torch.stack(axes[::-1], -1).view(-1, kernel[0] * kernel[1] * out_h, out_w, 2)


def deform_conv2d(input: Tensor, offset: Tensor, mask: Optional[Tensor], weight: Tensor, bias: Optional[Tensor],
                  stride: Pair, padding: Pair, dilation: Pair, groups: int, deform_groups: int) -> Tensor:
    """T [B, C, H, W], offsets T [B, 2 * G * taps, Ho, Wo] of y and x, mask T [B, G * taps, Ho, Wo] or None (v1), weight
    T [C_out, C / groups, kh, kw] -> T [B, C_out, Ho, Wo], differentiable in all of them. What lies outside is 0."""
    batch, channels, height, width = input.shape
    outputs, _, *kernel = weight.shape
    taps, (out_h, out_w) = kernel[0] * kernel[1], offset.shape[2:]
    if offset.shape[1] != 2 * deform_groups * taps:
        raise bad_param("offset", f"{2 * deform_groups * taps} channels, y and x of each tap", offset.shape[1])
    grid = _sampling_grid(offset, (height, width), tuple(kernel), stride, padding, dilation)
    planes = input.reshape(batch * deform_groups, channels // deform_groups, height, width)
    columns = F.grid_sample(planes, grid, align_corners=False).view(batch, deform_groups, -1, taps, out_h, out_w)
    if mask is not None:
        columns = columns * mask.view(batch, deform_groups, 1, taps, out_h, out_w)
    columns = columns.reshape(batch, groups, channels // groups * taps, out_h * out_w)
    products = weight.view(groups, outputs // groups, -1) @ columns
    result = products.view(batch, outputs, out_h, out_w)
    return result if bias is None else result + bias.view(1, -1, 1, 1)
