"""RotateRoIAlign_cuda of SE-SSD: RoIs by their first corner, sides and angle."""

import torch

from ...torch._tensors import floats
from ...torch.op import roi_align_rotated as _rois

__all__ = ["backward", "forward"]

PACKAGE = "det3d"
NAMES = ("RotateRoIAlign_cuda", "*.RotateRoIAlign_cuda")


def _by_centers(rois, scale):
    """Batch index, x, y, w, h, angle of RoIs whose sides are at least a pixel."""
    batch, x, y, w, h, angle = rois.unbind(1)
    w, h = w.clamp(min=1 / scale), h.clamp(min=1 / scale)
    cos, sin = angle.cos() / 2, angle.sin() / 2
    return torch.stack([batch, x + w * cos + h * sin, y - w * sin + h * cos, w, h, angle], 1)


def forward(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio):
    x, r = floats(input=input, rois=rois)
    return _rois.forward(x, _by_centers(r, spatial_scale), pooled_height, pooled_width, max(sampling_ratio, 0),
                         float(spatial_scale), False, False)


def backward(grad, rois, spatial_scale, pooled_height, pooled_width, batch_size, channels, height, width, sampling_ratio):
    g, r = floats(grad=grad, rois=rois)
    return _rois.gradient(g, _by_centers(r, spatial_scale), batch_size, height, width, max(sampling_ratio, 0),
                          float(spatial_scale), False, False)
