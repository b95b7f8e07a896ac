"""spatial_correlation_sampler, the package of Pytorch-Correlation-extension."""

from torch import nn

from ..._arguments import pair
from ...torch._tensors import floats
from .spatial_correlation_sampler_backend import _found

__all__ = ["SpatialCorrelationSampler", "spatial_correlation_sample"]

PACKAGE = "spatial_correlation_sampler"
NAMES = ("spatial_correlation_sampler", "spatial_correlation_sampler.spatial_correlation_sampler")


def spatial_correlation_sample(input1, input2, kernel_size=1, patch_size=1, stride=1, padding=0, dilation=1,
                               dilation_patch=1):
    """T [B, C, H, W] twice to T [B, patch, patch, Ho, Wo]. Every number may be one or two."""
    given = (("kernel_size", kernel_size), ("patch_size", patch_size), ("padding", padding), ("dilation", dilation),
             ("dilation_patch", dilation_patch), ("stride", stride))
    numbers = [each for name, value in given for each in pair(name, value, 0 if name == "padding" else 1)]
    return _found(*floats(input1=input1, input2=input2), *numbers)


class SpatialCorrelationSampler(nn.Module):
    """spatial_correlation_sample as a module: forward(input1, input2)."""

    def __init__(self, kernel_size=1, patch_size=1, stride=1, padding=0, dilation=1, dilation_patch=1):
        super().__init__()
        self.kernel_size, self.patch_size, self.stride = kernel_size, patch_size, stride
        self.padding, self.dilation, self.dilation_patch = padding, dilation, dilation_patch

    def forward(self, input1, input2):
        return spatial_correlation_sample(input1, input2, self.kernel_size, self.patch_size, self.stride, self.padding,
                                          self.dilation, self.dilation_patch)
