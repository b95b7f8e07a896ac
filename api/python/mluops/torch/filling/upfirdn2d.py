"""upfirdn2d: zeros between the pixels, padding, a filter, every few pixels of the result. A convolution of torch with a
group for each map, so that autograd differentiates it any number of times."""

import torch
from torch.nn import functional

from ..._errors import bad_param
from .._tensors import floats
from ..._shapes import rank


def _filtered(x, kernel, down_y, down_x, pads):
    """T [M, H, W] filtered and thinned out. Equal padding on both sides is the convolution's own."""
    x0, x1, y0, y1 = pads
    own = (y0, x0) if x0 == x1 >= 0 and y0 == y1 >= 0 else None
    x = x if own is not None else functional.pad(x, pads)
    weight = kernel.expand(len(x), 1, *kernel.shape)
    return functional.conv2d(x[None], weight, stride=(down_y, down_x), padding=own or 0, groups=len(x))[0]


def _spread(x, kernel, up_y, up_x, pads):
    """T [M, H, W] with zeros behind each pixel, padded and filtered: each pixel adds the filter to the output, of which
    the padding tells the part."""
    x0, x1, y0, y1 = pads
    height, width = kernel.shape
    weight = torch.flip(kernel, (0, 1)).expand(len(x), 1, height, width)
    whole = functional.conv_transpose2d(x[None], weight, stride=(up_y, up_x), groups=len(x))[0]
    return functional.pad(whole, (x0 - width + 1, x1 - width + up_x, y0 - height + 1, y1 - height + up_y))


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
    n, c, h, w = x.shape
    padded = h * up_y + pad_y0 + pad_y1, w * up_x + pad_x0 + pad_x1
    if padded[0] < height or padded[1] < width:
        raise bad_param("kernel", f"at most {padded[0]} x {padded[1]}, the padded input", list(kernel.shape))
    kernel = kernel if flip else torch.flip(kernel, (0, 1))
    if x.numel() == 0:
        return x.new_zeros(n, c, (padded[0] - height) // down_y + 1, (padded[1] - width) // down_x + 1)
    maps, pads = x.reshape(n * c, h, w), (pad_x0, pad_x1, pad_y0, pad_y1)
    if up_x == up_y == 1:
        made = _filtered(maps, kernel * gain, down_y, down_x, pads)
    else:
        made = _spread(maps, kernel * gain, up_y, up_x, pads)[:, ::down_y, ::down_x]
    return made.reshape(n, c, *made.shape[1:])
