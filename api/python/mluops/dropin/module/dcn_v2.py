"""DCNv2's extension: _ext of its forks, DCNv2._ext.dcn_v2 of CenterNet's."""

import torch

from ...torch._buffers import adding, fill, filling, write
from ...torch.filling import deform_psroi_pool as _pool
from ...torch.op.dcn import data_gradient, modulated_deform_conv2d, weight_gradient

__all__ = ["dcn_v2", "dcn_v2_backward", "dcn_v2_cuda_backward", "dcn_v2_cuda_forward", "dcn_v2_forward",
           "dcn_v2_psroi_pooling_backward", "dcn_v2_psroi_pooling_forward"]

PACKAGE = "DCNv2"
NAMES = ("_ext", "DCNv2._ext", "*.DCNv2._ext", "DCNv2._ext.dcn_v2", "*.DCNv2._ext.dcn_v2")


def dcn_v2_forward(input, weight, bias, offset, mask, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h,
                   dilation_w, deformable_group):
    return modulated_deform_conv2d(input, offset, mask, weight, bias, (stride_h, stride_w), (pad_h, pad_w),
                                   (dilation_h, dilation_w), 1, deformable_group)


def dcn_v2_backward(input, weight, bias, offset, mask, grad_output, kernel_h, kernel_w, *numbers):
    """Gradients of input, offset, mask, weight and bias."""
    *sizes, deformable_group = numbers
    numbers = *sizes, 1, deformable_group
    return [*data_gradient(grad_output, input, offset, mask, weight, *numbers),
            *weight_gradient(grad_output, input, offset, mask, kernel_h, kernel_w, *numbers)]


def dcn_v2_cuda_forward(input, weight, bias, ones, offset, mask, output, columns, *numbers):
    fill("output", output, dcn_v2_forward(input, weight, bias, offset, mask, *numbers))


def dcn_v2_cuda_backward(input, weight, bias, ones, offset, mask, columns, grad_input, grad_weight, grad_bias,
                         grad_offset, grad_mask, grad_output, *numbers):
    """Adds to the gradients of weight and bias, and sets the others."""
    found = dcn_v2_backward(input, weight, bias, offset, mask, grad_output, *numbers)
    write(filling("grad_input", grad_input, found[0]), filling("grad_offset", grad_offset, found[1]),
          filling("grad_mask", grad_mask, found[2]), adding("grad_weight", grad_weight, found[3]),
          adding("grad_bias", grad_bias, found[4]))


def dcn_v2_psroi_pooling_forward(input, bbox, trans, no_trans, *numbers):
    """The bins' means and how many samples each has. Numbers: scale, channels, groups, bins, parts, samples, standard deviation."""
    _, channels, _, bins = numbers[:4]
    out, count = (input.new_empty(len(bbox), channels, bins, bins) for _ in range(2))
    _pool.deform_psroi_pooling_forward(input, bbox, trans, out, count, no_trans, *numbers)
    return out, count


def dcn_v2_psroi_pooling_backward(out_grad, input, bbox, trans, top_count, no_trans, *numbers):
    """Gradients of input and trans."""
    of_input, of_trans = torch.zeros_like(input), torch.zeros_like(trans)
    _pool.deform_psroi_pooling_backward(out_grad, input, bbox, trans, top_count, of_input, of_trans, no_trans, *numbers)
    return of_input, of_trans


class dcn_v2:  # noqa: N801, the module of the same name inside of CenterNet's extension
    """`from ._ext import dcn_v2`."""

    dcn_v2_cuda_forward = staticmethod(dcn_v2_cuda_forward)
    dcn_v2_cuda_backward = staticmethod(dcn_v2_cuda_backward)


def _function(stride, padding, dilation=1, deformable_groups=1):
    """CenterNet's autograd function, of a form that torch has no longer: an object that is called."""

    def call(input, offset, mask, weight, bias):
        return modulated_deform_conv2d(input, offset, mask, weight, bias, stride, padding, dilation, 1,
                                       deformable_groups)

    return call


REPLACES = {(f"{package}.DCNv2.dcn_v2", "DCNv2Function"): _function
            for package in ("models.networks", "lib.models.networks")}
WHOLE = True
