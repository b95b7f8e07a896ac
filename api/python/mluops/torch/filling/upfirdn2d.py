"""upfirdn2d: zeros between the pixels, padding, a filter, every few pixels of the result. A composition of torch's
operators, so that autograd differentiates it any number of times."""

import torch
from torch.nn import functional

from ..._errors import bad_param
from .._tensors import floats
from ..._shapes import rank


def _spread(x, up_y, up_x):
    """Zeros behind each pixel."""
    if up_x == up_y == 1:
        return x
    n, c, h, w = x.shape
    wide = functional.pad(x.reshape(n, c, h, 1, w, 1), (0, up_x - 1, 0, 0, 0, up_y - 1))
    return wide.reshape(n, c, h * up_y, w * up_x)


def _filtered(x, kernel, down_y, down_x):
    """One filter for all maps: a convolution with as many groups as there are maps."""
    n, c, h, w = x.shape
    weight = kernel.expand(n * c, 1, *kernel.shape)
    out = functional.conv2d(x.reshape(1, n * c, h, w), weight, stride=(down_y, down_x), groups=max(n * c, 1))
    return out.reshape(n, c, *out.shape[2:])


def upfirdn2d(x, kernel, up_x=1, up_y=1, down_x=1, down_y=1, pad_x0=0, pad_x1=0, pad_y0=0, pad_y1=0, flip=False, gain=1.0):
    """T [N, C, H, W] -> T [N, C, Ho, Wo]. kernel: T [kh, kw], or T [k], for each axis once; flip: a correlation in place
    of a convolution. Negative padding cuts off."""
    x, kernel = floats(input=x, kernel=kernel)
    rank("input", x.shape, 4)
    for name, number in (("up", min(up_x, up_y)), ("down", min(down_x, down_y))):
        if number < 1:
            raise bad_param(name, "at least 1", number)
    if kernel.dim() == 1:  # one axis after the other
        x = upfirdn2d(x, kernel[None], up_x, 1, down_x, 1, pad_x0, pad_x1, 0, 0, flip, gain)
        return upfirdn2d(x, kernel[:, None], 1, up_y, 1, down_y, 0, 0, pad_y0, pad_y1, flip)
    height, width = rank("kernel", kernel.shape, 2)
    x = functional.pad(_spread(x, up_y, up_x), (pad_x0, pad_x1, pad_y0, pad_y1))
    if x.shape[2] < height or x.shape[3] < width:
        raise bad_param("kernel", f"at most {x.shape[2]} x {x.shape[3]}, the padded input", list(kernel.shape))
    kernel = kernel if flip else torch.flip(kernel, (0, 1))
    if x.numel() == 0:
        return x.new_zeros(*x.shape[:2], (x.shape[2] - height) // down_y + 1, (x.shape[3] - width) // down_x + 1)
    return _filtered(x, kernel * gain, down_y, down_x)
