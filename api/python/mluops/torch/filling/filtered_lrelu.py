"""filtered_lrelu of StyleGAN3: upsampled with a filter, leaky ReLU with gain and clamp, downsampled with another. With signs
of two bits a pixel, which its gradient is computed from: 1 where the value was negative, 2 where it was clamped."""

import torch
from torch.nn import functional

from .._buffers import fill
from ..op.upfirdn2d import upfirdn2d

_PIXELS = 4  # in a byte
_ROUND = 16  # a row of signs has a multiple of this


def _packed(signs):
    """[N, C, H, W] -> [N, C, H, W rounded up / 4]."""
    width = -(-signs.shape[3] // _ROUND) * _ROUND
    each = functional.pad(signs, (0, width - signs.shape[3])).unflatten(3, (-1, _PIXELS))
    return (each << (2 * torch.arange(_PIXELS))).sum(4).to(torch.uint8)


def _unpacked(packed, x, sx, sy):
    """The signs of x's pixels, where those of pixel (0, 0) stand at (sy, sx); 0 outside."""
    signs = ((packed[..., None].int() >> (2 * torch.arange(_PIXELS))) & 3).flatten(3)
    height, width = x.shape[2:]
    return functional.pad(signs, (-sx, width + sx - signs.shape[3], -sy, height + sy - signs.shape[2]))


def activated(x, si, sx, sy, gain, slope, clamp, write_signs):
    """The activation and the signs it wrote, if it did; with signs si the derivative in place of the activation."""
    x = x * gain
    if si.numel() > 0:
        signs = _unpacked(si, x, sx, sy)
        return torch.where(signs == 1, x * slope, x).masked_fill(signs == 2, 0), si.new_empty(0)
    negative = x < 0
    y = torch.where(negative, x * slope, x)
    clamped = y.abs() > clamp
    signs = torch.where(clamped, 2, negative.int())
    return y.clamp(-clamp, clamp), _packed(signs) if write_signs else torch.empty(0, dtype=torch.uint8)


def filtered_lrelu(x, fu, fd, b, si, up, down, px0, px1, py0, py1, sx, sy, gain, slope, clamp, flip_filters, write_signs):
    """The result, the signs and 0 (a kernel was found)."""
    x = upfirdn2d(x + b.to(x.dtype)[:, None, None], fu, up, 1, (px0, px1, py0, py1), flip_filters, float(up) ** 2)
    y, so = activated(x, si, sx, sy, gain, slope, clamp, write_signs)
    return upfirdn2d(y, fd, 1, down, 0, flip_filters), so, 0


def filtered_lrelu_act(x, si, sx, sy, gain, slope, clamp, write_signs):
    """The activation alone, in place; returns the signs."""
    y, so = activated(x, si, sx, sy, gain, slope, clamp, write_signs)
    fill("x", x, y)
    return so
