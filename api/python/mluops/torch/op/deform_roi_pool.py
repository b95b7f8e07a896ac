"""Deformable RoI pooling."""

from typing import Optional

import torch
from torch import Tensor, nn

from ..._functions.deform_roi_pool import (DEFORM_ROI_POOL_BACKWARD as BACKWARD, DEFORM_ROI_POOL_FORWARD as FORWARD)
from .._blocks import Rois, Size, described, floats, integer, linear_tangent, no_tangent, pair, rois_of

__all__ = ["DeformRoIPool", "DeformRoIPoolPack", "ModulatedDeformRoIPoolPack", "deform_roi_pool"]


def _offset_derivatives(input, rois, offset, pooling):
    """d output[r,c,i,j] / d offset[r,:,i,j] as [R, C, 2, PH, PW]. A bin depends on its own two offsets only, so the
    gradient of the sum of all bins holds every derivative, once each channel is an image of its own."""
    wide = torch.promote_types(input.dtype, torch.float32)  # half cannot count the images
    b, channels, h, w = input.shape
    images = input.to(wide).reshape(b * channels, 1, h, w)
    each = rois.to(wide).repeat_interleave(channels, 0)
    number = torch.arange(channels, dtype=wide, device=rois.device).repeat(rois.shape[0])
    each = torch.cat([(each[:, :1].trunc() * channels + number[:, None]), each[:, 1:]], 1)
    offsets = offset.to(wide).repeat_interleave(channels, 0)
    ones = images.new_ones(each.shape[0], 1, *offset.shape[2:])
    found = gradients(ones, images, each, offsets, *pooling)[1]
    return found.reshape(rois.shape[0], channels, *offset.shape[1:])


def _jvp(inputs, output, tangents):
    """The operator is linear in input; along offset its derivative is the one `gradients` uses."""
    input, rois, offset, *pooling = inputs
    no_tangent("deform_roi_pool", "rois", tangents[1])
    along = linear_tangent(forward, inputs, tangents, (0,))
    if tangents[2] is not None:
        each = _offset_derivatives(input, rois, offset, pooling)
        along = along + (each * tangents[2][:, None]).sum(2).to(input.dtype)
    return along


# The second result is empty without offset.
gradients = described("deform_roi_pool_backward(grad, input, rois, offset, pooled_height, pooled_width, "
                      "spatial_scale, sampling_ratio, gamma)", BACKWARD)
forward = described("deform_roi_pool(input, rois, offset, pooled_height, pooled_width, spatial_scale, sampling_ratio, "
                    "gamma)", FORWARD, gradient=gradients, jvp=_jvp)


def deform_roi_pool(input: Tensor, rois: Rois, offset: Optional[Tensor], output_size: Size,
                    spatial_scale: float = 1.0, sampling_ratio: int = 0, gamma: float = 0.1) -> Tensor:
    """Deformable RoI pooling: the mean of bilinear samples in each bin, bins shifted by gamma * RoI size * offset.

    Args:
        input: T [B, C, H, W].
        rois: T [R, 5]: batch index, x1, y1, x2, y2.
        offset: T [R, 2, PH, PW] (plane 0 is x, plane 1 is y), or None (or empty) for none.
        output_size: PH, PW, or one number for both.
        spatial_scale: multiplies the corners of the RoIs; 0.5 is then subtracted.
        sampling_ratio: samples per axis and bin; <= 0 means ceil(RoI size / bins).
        gamma: scale of offset.
    Returns: T [R, C, PH, PW], differentiable in input and offset. The gradient of offset uses the unclamped sample
    coordinates, so for samples less than a pixel from the map's edge it is not the derivative of this function.

    Source: Dai et al., "Deformable Convolutional Networks", ICCV 2017.
    """
    if isinstance(offset, Tensor) and offset.dim() == 1 and offset.numel() == 0:
        offset = None
    x, r, o = floats(optional="offset", input=input, rois=rois_of(input, rois), offset=offset)
    return forward(x, r, o, *pair("output_size", output_size), float(spatial_scale),
                   integer("sampling_ratio", sampling_ratio), float(gamma))


class DeformRoIPool(nn.Module):
    """mluops.torch.deform_roi_pool; forward(input [B,C,H,W], rois [R,5], offset [R,2,PH,PW] or None)."""

    def __init__(self, output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = 0,
                 gamma: float = 0.1) -> None:
        super().__init__()
        self.output_size = pair("output_size", output_size)
        self.spatial_scale = float(spatial_scale)
        self.sampling_ratio = int(sampling_ratio)
        self.gamma = float(gamma)

    def forward(self, input: Tensor, rois: Rois, offset: Optional[Tensor] = None) -> Tensor:
        return deform_roi_pool(input, rois, offset, self.output_size, self.spatial_scale, self.sampling_ratio,
                               self.gamma)

    def extra_repr(self) -> str:
        return (f"output_size={self.output_size}, spatial_scale={self.spatial_scale}, "
                f"sampling_ratio={self.sampling_ratio}, gamma={self.gamma}")


def _zeroed(layer: nn.Linear) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class DeformRoIPoolPack(DeformRoIPool):
    """DeformRoIPool with the layers that predict its offsets; forward(input [B,output_channels,H,W], rois [R,5])."""

    def __init__(self, output_size: Size, output_channels: int, deform_fc_channels: int = 1024,
                 spatial_scale: float = 1.0, sampling_ratio: int = 0, gamma: float = 0.1) -> None:
        super().__init__(output_size, spatial_scale, sampling_ratio, gamma)
        self.output_channels = output_channels
        self.deform_fc_channels = deform_fc_channels
        bins = self.output_size[0] * self.output_size[1]
        self.offset_fc = nn.Sequential(
            nn.Linear(bins * output_channels, deform_fc_channels), nn.ReLU(inplace=True),
            nn.Linear(deform_fc_channels, deform_fc_channels), nn.ReLU(inplace=True),
            _zeroed(nn.Linear(deform_fc_channels, bins * 2)))

    def _rigid(self, input: Tensor, rois: Rois) -> Tensor:
        """Pooled without offsets, one row per RoI, in NCHW order as the linear layers expect."""
        if input.shape[1] != self.output_channels:
            raise ValueError(f"input: wanted {self.output_channels} channels, got {input.shape[1]}")
        return super().forward(input, rois).flatten(1)

    def _deformed(self, input: Tensor, rois: Rois, rigid: Tensor) -> Tensor:
        offset = self.offset_fc(rigid).view(rigid.shape[0], 2, *self.output_size)
        return super().forward(input, rois, offset)

    def forward(self, input: Tensor, rois: Rois) -> Tensor:  # type: ignore[override]
        return self._deformed(input, rois, self._rigid(input, rois))


class ModulatedDeformRoIPoolPack(DeformRoIPoolPack):
    """DeformRoIPoolPack whose bins are also scaled by a predicted mask in (0, 1)."""

    def __init__(self, output_size: Size, output_channels: int, deform_fc_channels: int = 1024,
                 spatial_scale: float = 1.0, sampling_ratio: int = 0, gamma: float = 0.1) -> None:
        super().__init__(output_size, output_channels, deform_fc_channels, spatial_scale, sampling_ratio, gamma)
        bins = self.output_size[0] * self.output_size[1]
        self.mask_fc = nn.Sequential(
            nn.Linear(bins * output_channels, deform_fc_channels), nn.ReLU(inplace=True),
            _zeroed(nn.Linear(deform_fc_channels, bins)), nn.Sigmoid())

    def forward(self, input: Tensor, rois: Rois) -> Tensor:  # type: ignore[override]
        rigid = self._rigid(input, rois)
        mask = self.mask_fc(rigid).view(rigid.shape[0], 1, *self.output_size)
        return self._deformed(input, rois, rigid) * mask
