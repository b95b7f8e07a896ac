"""masked_conv2d: convolution at some pixels, whose windows become the columns of a matrix product; MaskedConv2d, the
module."""

from typing import Optional, Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..._functions.masked_im2col import MASKED_COL2IM_FORWARD as COL2IM, MASKED_IM2COL_FORWARD as IM2COL
from .. import _eager
from .._blocks import bad_param, described, expect, floats, operator, pair, rank

__all__ = ["MaskedConv2d", "masked_conv2d"]


def _count(rows, cols):
    count, = rank("rows", rows.shape, 1)
    expect("columns", cols.shape, (count,), ("rows",))
    return count


def _scattered_fake(grad, rows, cols, height, width, kernel_h, kernel_w, pad_h, pad_w):
    expect("grad", grad.shape, (grad.shape[0], _count(rows, cols)), ("", "rows"))
    return grad.new_empty((1, grad.shape[0] // (kernel_h * kernel_w), height, width))


def _scattered_call(image, grad, rows, cols, height, width, kernel_h, kernel_w, pad_h, pad_w):
    """Each element of a window back to its pixel."""
    y = rows.long()[None] - pad_h + torch.arange(kernel_h)[:, None]  # [kh, P]
    x = cols.long()[None] - pad_w + torch.arange(kernel_w)[:, None]
    inside = ((y >= 0) & (y < height))[:, None] & ((x >= 0) & (x < width))[None]  # [kh, kw, P]
    at = (y.clamp(0, height - 1) * width)[:, None] + x.clamp(0, width - 1)[None]
    wide = grad.to(torch.promote_types(grad.dtype, torch.float32))
    values = wide.reshape(image.shape[1], *at.shape).masked_fill(~inside, 0).flatten(1)
    sums = wide.new_zeros(image.shape[1], height * width).index_add_(1, at.flatten(), values)
    image.copy_(sums.reshape(image.shape))


scattered = operator(
    "masked_im2col_backward(Tensor grad, Tensor rows, Tensor columns, SymInt height, SymInt width, int kernel_h, "
    "int kernel_w, int pad_h, int pad_w) -> Tensor", _scattered_fake, _scattered_call)


def _im2col_setup(ctx, inputs, output):
    image, rows, cols, *ctx.window = inputs
    ctx.sizes = image.shape[2:]
    ctx.save_for_backward(rows, cols)


def _im2col_backward(ctx, grad):
    return (scattered(grad, *ctx.saved_tensors, *ctx.sizes, *ctx.window), *(None,) * 6)


def _col2im_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs[1:3])


def _col2im_backward(ctx, grad):
    """The gradient at the pixels that forward chose; other pixels have none."""
    return (im2col(grad, *ctx.saved_tensors, 1, 1, 0, 0), *(None,) * 4)


im2col = described("masked_im2col(features, rows, columns, kernel_h, kernel_w, pad_h, pad_w)", IM2COL,
                   setup=_im2col_setup, backward=_im2col_backward, linear="features")
col2im = described("masked_col2im(col, rows, columns, height, width)", COL2IM, least={"h": 1, "w": 1},
                   setup=_col2im_setup, backward=_col2im_backward, linear="col")


def _in_channels_last(features: Tensor) -> bool:
    return not features.is_contiguous() and features.is_contiguous(memory_format=torch.channels_last)


def _convolve_rows(features: Tensor, rows: Tensor, columns: Tensor, weight: Tensor, bias: Tensor, pad_y: int, pad_x: int,
                   height: int, width: int) -> Tensor:
    """The convolution on channels_last features, whose pixels are rows: windows are [P, kh * kw * C], and so is the
    result channels_last."""
    channels, h, w = features.shape[1:]
    out, _, kh, kw = weight.shape
    y = rows.long()[:, None, None] - pad_y + torch.arange(kh, device=rows.device)[:, None]  # [P, kh, 1]
    x = columns.long()[:, None, None] - pad_x + torch.arange(kw, device=rows.device)  # [P, 1, kw]
    inside = (y >= 0) & (y < h) & (x >= 0) & (x < w)
    at = y.clamp(0, h - 1) * w + x.clamp(0, w - 1)
    pixels = features.permute(0, 2, 3, 1).reshape(h * w, channels).index_select(0, at.flatten())
    windows = pixels.masked_fill(~inside.reshape(-1, 1), 0).reshape(-1, kh * kw * channels)
    found = torch.addmm(bias, windows, weight.permute(2, 3, 1, 0).reshape(-1, out))
    image = found.new_zeros(height * width, out).index_copy(0, rows.long() * width + columns.long(), found)
    return image.reshape(1, height, width, out).permute(0, 3, 1, 2)


def masked_conv2d(features: Tensor, mask: Tensor, weight: Tensor, bias: Tensor,
                  padding: Union[int, Tuple[int, int]] = 0, stride: Union[int, Tuple[int, int]] = 1) -> Tensor:
    """Convolution at the pixels of a mask, in time that grows with their number.

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
    if pair("stride", stride) != (1, 1):
        raise bad_param("stride", 1, stride)
    pad_y, pad_x = pair("padding", padding)
    size = height + 2 * pad_y - kh + 1, width + 2 * pad_x - kw + 1
    if min(pad_y, pad_x) < 0 or min(size) < 1:
        raise bad_param("padding", f"at least 0, and outputs of the {kh} x {kw} filter on {height} x {width}", padding)
    above = mask > 0
    if size != (height, width):
        above = F.pad(above, (0, size[1] - width, 0, size[0] - height))
    chosen = above.nonzero().int().unbind(1)[1:]
    dtype = features.dtype
    if dtype in (torch.float16, torch.bfloat16):
        features, weight, bias = features.float(), weight.float(), bias.float()
    if _in_channels_last(features):
        return _convolve_rows(features, *chosen, weight, bias, pad_y, pad_x, *size).to(dtype)
    windows = im2col(features, *chosen, kh, kw, pad_y, pad_x)
    if _eager.recording():  # the gradients of mm and of a bias beside each window ask whether there is one window
        products = torch.bmm(weight.flatten(1).unsqueeze(0), windows.unsqueeze(0)).squeeze(0)
        return (col2im(products, *chosen, *size) + bias[:, None, None] * above[None]).to(dtype)
    return col2im(torch.addmm(bias.unsqueeze(1), weight.flatten(1), windows), *chosen, *size).to(dtype)


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
