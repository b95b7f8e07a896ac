"""dcn_v2, the module that DCNv2 installs: FairMOT's and YOLACT++'s convolutions."""

import math

import torch
from torch import nn

from ..._arguments import pair
from ...torch.op.dcn import modulated_deform_conv2d
from .dcn_v2 import dcn_v2_psroi_pooling_backward, dcn_v2_psroi_pooling_forward

__all__ = ["DCN", "DCNv2", "DCNv2Pooling", "dcn_v2_conv", "dcn_v2_pooling"]

PACKAGE = "DCNv2"
NAMES = ("dcn_v2",)


def dcn_v2_conv(input, offset, mask, weight, bias, stride, padding, dilation, deformable_groups):
    return modulated_deform_conv2d(input, offset, mask, weight, bias, stride, padding, dilation, 1, deformable_groups)


class DCNv2(nn.Module):
    """forward(input, offset, mask)."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation=1, deformable_groups=1):
        super().__init__()
        self.in_channels, self.out_channels, self.deformable_groups = in_channels, out_channels, deformable_groups
        self.kernel_size, self.stride = pair("kernel_size", kernel_size), pair("stride", stride)
        self.padding, self.dilation = pair("padding", padding), pair("dilation", dilation)
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels, *self.kernel_size))
        self.bias = nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self):
        reach = 1 / math.sqrt(self.in_channels * self.kernel_size[0] * self.kernel_size[1])
        nn.init.uniform_(self.weight, -reach, reach)
        nn.init.zeros_(self.bias)

    def forward(self, input, offset, mask):
        return dcn_v2_conv(input, offset, mask, self.weight, self.bias, self.stride, self.padding, self.dilation,
                           self.deformable_groups)


class DCN(DCNv2):
    """forward(input): a convolution finds offsets and masks."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation=1, deformable_groups=1):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, deformable_groups)
        found = 3 * deformable_groups * self.kernel_size[0] * self.kernel_size[1]
        self.conv_offset_mask = nn.Conv2d(in_channels, found, self.kernel_size, self.stride, self.padding)
        self.init_offset()

    def init_offset(self):
        nn.init.zeros_(self.conv_offset_mask.weight)
        nn.init.zeros_(self.conv_offset_mask.bias)

    def forward(self, input):
        rows, columns, mask = self.conv_offset_mask(input).chunk(3, 1)
        return super().forward(input, torch.cat((rows, columns), 1), mask.sigmoid())


class _Pooling(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, rois, offset, *numbers):
        out, count = dcn_v2_psroi_pooling_forward(input, rois, offset, *numbers)
        ctx.save_for_backward(input, rois, offset, count)
        ctx.numbers = numbers
        return out

    @staticmethod
    def backward(ctx, grad):
        input, rois, offset, count = ctx.saved_tensors
        of_input, of_offset = dcn_v2_psroi_pooling_backward(grad, input, rois, offset, count, *ctx.numbers)
        return of_input, None, of_offset, *(None,) * len(ctx.numbers)


def dcn_v2_pooling(input, rois, offset, spatial_scale, pooled_size, output_dim, no_trans, group_size=1, part_size=None,
                   sample_per_part=4, trans_std=0.0):
    """T [R, output_dim, P, P]; RoIs: batch index, x1, y1, x2, y2."""
    parts = pooled_size if part_size is None else part_size
    return _Pooling.apply(input, rois, offset, int(no_trans), spatial_scale, output_dim, group_size, pooled_size, parts,
                          sample_per_part, trans_std)


class DCNv2Pooling(nn.Module):
    """dcn_v2_pooling as a module: forward(input, rois, offset)."""

    def __init__(self, spatial_scale, pooled_size, output_dim, no_trans, group_size=1, part_size=None, sample_per_part=4,
                 trans_std=0.0):
        super().__init__()
        self.no_trans = no_trans
        self.numbers = (spatial_scale, pooled_size, output_dim, no_trans, group_size, part_size, sample_per_part, trans_std)

    def forward(self, input, rois, offset):
        return dcn_v2_pooling(input, rois, input.new_empty(0) if self.no_trans else offset, *self.numbers)
