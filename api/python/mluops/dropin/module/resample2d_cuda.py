"""resample2d_cuda of FlowNet2: an image warped by a flow of pixels."""

import torch

from ...torch._buffers import add_all, fill
from ...torch._tensors import floats
from ...torch.filling.pixels import bags, corners, rows_of

__all__ = ["backward", "forward"]

PACKAGE = "flownet2"
NAMES = ("resample2d_cuda", "*.resample2d_cuda")
BUILT = ("resample2d", "resample2d_cuda")


def _samples(flow, height, width):
    """The target positions of the flow: y and x [B, H, W]."""
    rows, columns = flow.shape[2:]
    return torch.arange(rows)[:, None] + flow[:, 1], torch.arange(columns) + flow[:, 0]


def _clamped(y, x, height, width):
    """Four pixels of points anywhere: those outside are the nearest inside, and keep the weights."""
    y0, x0 = y.detach().floor(), x.detach().floor()
    _, weights = corners(y, x, height, width)
    ys = torch.stack([y0, y0, y0 + 1, y0 + 1], -1).clamp(0, height - 1).long()
    xs = torch.stack([x0, x0 + 1, x0, x0 + 1], -1).clamp(0, width - 1).long()
    return ys * width + xs, weights


def _nearest(y, x, height, width):
    ys, xs = (y + 0.5).floor().clamp(0, height - 1), (x + 0.5).floor().clamp(0, width - 1)
    return (ys.long() * width + xs.long())[..., None], torch.ones_like(y)[..., None]


def _warped(image, flow, kernel_size, bilinear):
    """T [B, C, H, W] of T [B, C, h, w] and flow T [B, 2, H, W]; with a kernel, sums of that many pixels to the right and
    down."""
    image, flow = floats(input1=image, input2=flow)
    b, c, height, width = image.shape
    y, x = _samples(flow, height, width)
    index, weights = (_clamped if bilinear else _nearest)(y, x, height, width)
    index = index + torch.arange(b).reshape(-1, 1, 1, 1) * (height * width)
    reach = torch.arange(kernel_size)
    moves = (reach[:, None] * width + reach).flatten()
    index = (index[..., None] + moves).flatten(3).clamp(max=b * height * width - 1)
    weights = weights[..., None].expand(*weights.shape, len(moves)).flatten(3)
    made = bags(rows_of(image), index.flatten(0, 2), weights.flatten(0, 2))
    return made.reshape(b, *flow.shape[2:], c).permute(0, 3, 1, 2)


def forward(input1, input2, output, kernel_size, bilinear):
    fill("output", output, _warped(input1.detach(), input2.detach(), kernel_size, bilinear))
    return 1


def backward(input1, input2, grad_output, grad_input1, grad_input2, kernel_size, bilinear):
    """Added to what there is. Bilinear, where a pixel is the weighted sum of four."""
    inputs = [each.detach().requires_grad_() for each in (input1, input2)]
    with torch.enable_grad():
        out = _warped(*inputs, kernel_size, True)
    add_all(torch.autograd.grad(out, inputs, grad_output.to(out.dtype)), grad_input1=grad_input1, grad_input2=grad_input2)
    return 1
