"""spatial_correlation_sampler_backend: products of an image's windows with displaced ones of another."""

import torch

from ...torch._tensors import floats
from ...torch.op.correlation import forward as _correlation

__all__ = ["backward", "forward"]

PACKAGE = "spatial_correlation_sampler"
NAMES = ("spatial_correlation_sampler_backend", "*.spatial_correlation_sampler_backend")
BUILT = ("spatial_correlation_sampler_backend",)


def _found(one, two, kernel_h, kernel_w, patch_h, patch_w, pad_h, pad_w, dilation_h, dilation_w, dilation_patch_h,
           dilation_patch_w, stride_h, stride_w):
    """T [B, patch_h, patch_w, Ho, Wo]; of an even number of displacements there is one more to the end."""
    reach = max(patch_h, patch_w) // 2
    found = _correlation(one, two, kernel_h, kernel_w, reach, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
                         dilation_patch_h, dilation_patch_w)
    first_h, first_w = (reach - (patch - 1) // 2 for patch in (patch_h, patch_w))
    return found[:, first_h:first_h + patch_h, first_w:first_w + patch_w]


def forward(input1, input2, *numbers):
    """Numbers, each down and across: kernel, patch, padding, dilation, dilation of the patch, stride."""
    return _found(*(each.detach() for each in floats(input1=input1, input2=input2)), *numbers).contiguous()


def backward(input1, input2, grad_output, *numbers):
    images = [each.detach().requires_grad_() for each in floats(input1=input1, input2=input2)]
    with torch.enable_grad():
        out = _found(*images, *numbers)
    return list(torch.autograd.grad(out, images, grad_output.to(out.dtype)))
