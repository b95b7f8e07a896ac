"""correlation_cuda of FlowNet2, PWC-Net and their descendants: means of products of windows."""

import torch
from torch.nn import functional

from ..._errors import bad_param
from ...torch._buffers import resizing, write
from ...torch._tensors import floats
from ...torch.op.correlation import forward as _correlation

__all__ = ["backward", "forward"]

PACKAGE = "flownet2"
NAMES = ("correlation_cuda", "*.correlation_cuda")
BUILT = ("correlation", "correlation_cuda")


def _means(one, two, pad_size, kernel_size, max_displacement, stride1, stride2):
    """T [N, P * P, Ho, Wo]. Centres of the first image's windows stand max_displacement inside of the padded images."""
    if kernel_size < 1 or kernel_size % 2 == 0:
        raise bad_param("kernel_size", "an odd number", kernel_size)
    radius = kernel_size // 2
    rows, columns = (-(-(size + 2 * (pad_size - radius - max_displacement)) // stride1) for size in one.shape[2:])
    if rows < 1 or columns < 1:
        raise bad_param("pad_size", f"a window in {list(one.shape[2:])} pixels and their padding", pad_size)
    pad = pad_size - max_displacement + radius
    step, inside = (stride1, 0) if pad >= 0 else (1, -pad)  # windows may begin inside of the image
    one, two = (functional.pad(each, (max(pad, 0),) * 4) for each in (one, two))
    found = _correlation(one, two, kernel_size, kernel_size, max_displacement // stride2, step, step, 0, 0, 1, 1, stride2,
                         stride2).flatten(1, 2)
    if inside:
        found = found[:, :, inside::stride1, inside::stride1]
    return found[:, :, :rows, :columns] / (kernel_size ** 2 * one.shape[1])


def forward(input1, input2, rbot1, rbot2, output, pad_size, kernel_size, max_displacement, stride1, stride2,
            corr_multiply):
    """output becomes T [N, P * P, Ho, Wo]."""
    found = _means(*floats(input1=input1, input2=input2), pad_size, kernel_size, max_displacement, stride1, stride2)
    write(resizing("output", output, found))
    return 1


def backward(input1, input2, rbot1, rbot2, grad_output, grad_input1, grad_input2, pad_size, kernel_size, max_displacement,
             stride1, stride2, corr_multiply):
    """Both gradients become as large as the images."""
    images = [each.detach().requires_grad_() for each in floats(input1=input1, input2=input2)]
    with torch.enable_grad():
        out = _means(*images, pad_size, kernel_size, max_displacement, stride1, stride2)
    found = torch.autograd.grad(out, images, grad_output.to(out.dtype))
    write(resizing("grad_input1", grad_input1, found[0]), resizing("grad_input2", grad_input2, found[1]))
    return 1
