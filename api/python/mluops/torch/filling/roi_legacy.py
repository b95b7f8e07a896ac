"""RoIs as the first detectors' extensions have them, over ours."""

import torch

from ..op import roi_align as _align
from ..op import roi_pool as _pool
from .._tensors import floats
from .deform_psroi_pool import rounded


def rounded_boxes(rois, spatial_scale):
    """Boxes on the map of RoI pooling that rounds their corners and counts the last pixel in."""
    corners = rounded(rois[:, 1:5] * spatial_scale)
    low, high = corners[:, :2], corners[:, 2:]
    return torch.cat([rois[:, :1], low, high.maximum(low)], 1)


def roi_pool_forward(input, rois, spatial_scale, pooled_height, pooled_width):
    """The greatest of each bin and its place: T and int32 [R, C, pooled_height, pooled_width]."""
    x, r = floats(input=input, rois=rois)
    return _pool.forward(x, rounded_boxes(r, spatial_scale), pooled_height, pooled_width, 1.0)


def roi_pool_backward(grad, rois, argmax, spatial_scale, batch, height, width):
    g, r = floats(grad=grad, rois=rois)
    return _pool.gradient(g, rounded_boxes(r, spatial_scale), argmax.int(), batch, height, width, 1.0)


def roi_align_forward(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned=False):
    x, r = floats(input=input, rois=rois)
    return _align.forward(x, r, pooled_height, pooled_width, float(spatial_scale), max(sampling_ratio, 0), 1, aligned)[0]


def roi_align_backward(grad, rois, spatial_scale, batch, height, width, sampling_ratio, aligned=False):
    g, r = floats(grad=grad, rois=rois)
    return _align.gradient(g, r, None, None, batch, height, width, float(spatial_scale), max(sampling_ratio, 0), 1, aligned)
