"""resample2d_cuda of FlowNet2: an image warped by a flow of pixels."""

import torch

from ...torch._buffers import add_all, fill
from ...torch._tensors import floats
from ...torch.filling.pixels import bags, corners, gradients, moved, rows_of, sampled

__all__ = ["backward", "forward"]

PACKAGE = "flownet2"
NAMES = ("resample2d_cuda", "*.resample2d_cuda")
BUILT = ("resample2d", "resample2d_cuda")


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
    b, c, height, width = image.shape
    index, weights = (_clamped if bilinear else _nearest)(*moved(flow), height, width)
    index = index + torch.arange(b).reshape(-1, 1, 1, 1) * (height * width)
    reach = torch.arange(kernel_size)
    moves = (reach[:, None] * width + reach).flatten()
    index = (index[..., None] + moves).flatten(3).clamp(max=b * height * width - 1)
    weights = weights[..., None].expand(*weights.shape, len(moves)).flatten(3)
    made = bags(rows_of(image), index.flatten(0, 2), weights.flatten(0, 2))
    return made.reshape(b, *flow.shape[2:], c).permute(0, 3, 1, 2)


def _at_least_float32(**tensors):
    """Detached tensors of a dtype for grid_sample."""
    tensors = floats(**tensors)
    dtype = torch.promote_types(tensors[0].dtype, torch.float32)
    return [each.detach().to(dtype) for each in tensors]


def forward(input1, input2, output, kernel_size, bilinear):
    image, flow = _at_least_float32(input1=input1, input2=input2)
    is_plain = bilinear and kernel_size == 1 and image.numel()
    made = sampled(image, *moved(flow), "border") if is_plain else _warped(image, flow, kernel_size, bilinear)
    fill("output", output, made)
    return 1


def _gradients_of_sums(image, flow, grad, kernel_size):
    inputs = [each.requires_grad_() for each in (image, flow)]
    with torch.enable_grad():
        out = _warped(*inputs, kernel_size, True)
    return torch.autograd.grad(out, inputs, grad)


def backward(input1, input2, grad_output, grad_input1, grad_input2, kernel_size, bilinear):
    """Added to what there is. Bilinear, where a pixel is the weighted sum of four."""
    image, flow, grad = _at_least_float32(input1=input1, input2=input2, grad_output=grad_output)
    is_plain = kernel_size == 1 and image.numel()
    if is_plain:
        of_image, by_y, by_x = gradients(grad, image, *moved(flow), "border")
        found = of_image, torch.stack([by_x, by_y], 1)
    else:
        found = _gradients_of_sums(image, flow, grad, kernel_size)
    add_all(found, grad_input1=grad_input1, grad_input2=grad_input2)
    return 1
