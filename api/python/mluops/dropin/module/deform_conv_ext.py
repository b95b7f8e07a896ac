"""deform_conv_ext and deform_conv_cuda: deformable convolutions of mmdet 1 and 2.0, det3d, BasicSR and EDVR."""

from ...torch.filling.dcn import (deform_conv_backward_input, deform_conv_backward_parameters, deform_conv_forward,
                            modulated_deform_conv_backward, modulated_deform_conv_forward)
from ...torch.op.dcn import deform_conv2d, modulated_deform_conv2d

__all__ = ["deform_conv_backward_input", "deform_conv_backward_input_cuda", "deform_conv_backward_parameters",
           "deform_conv_backward_parameters_cuda", "deform_conv_forward", "deform_conv_forward_cuda",
           "modulated_deform_conv_backward", "modulated_deform_conv_cuda_backward", "modulated_deform_conv_cuda_forward",
           "modulated_deform_conv_forward"]

PACKAGE = "deform_conv"
NAMES = ("deform_conv_ext", "*.deform_conv_ext", "deform_conv_cuda", "*.deform_conv_cuda")

deform_conv_forward_cuda, deform_conv_backward_input_cuda = deform_conv_forward, deform_conv_backward_input
deform_conv_backward_parameters_cuda = deform_conv_backward_parameters
modulated_deform_conv_cuda_forward = modulated_deform_conv_forward
modulated_deform_conv_cuda_backward = modulated_deform_conv_backward


def _deform_conv(input, offset, weight, stride=1, padding=0, dilation=1, groups=1, deformable_groups=1, im2col_step=64):
    return deform_conv2d(input, offset, weight, stride, padding, dilation, groups, deformable_groups)


def _modulated_deform_conv(input, offset, mask, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
                           deformable_groups=1):
    return modulated_deform_conv2d(input, offset, mask, weight, bias, stride, padding, dilation, groups,
                                   deformable_groups)


# The programs' Python functions refuse CPU tensors before they ask the extension.
REPLACES = {(f"{package}.deform_conv", name): ours
            for package in ("mmdet.ops.dcn", "det3d.ops.dcn", "basicsr.ops.dcn", "basicsr.models.ops.dcn",
                            "models.archs.dcn", "codes.models.archs.dcn")
            for name, ours in (("deform_conv", _deform_conv), ("modulated_deform_conv", _modulated_deform_conv))}
