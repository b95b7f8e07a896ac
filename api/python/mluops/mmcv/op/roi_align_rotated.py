"""roi_align_rotated, whose CPU code a compiled mmcv keeps, and riroi_align_rotated, which has none."""

import torch

from ...torch._tensors import floats
from ...torch.op.roi_align_rotated import forward, gradient, riroi_align_rotated


def roi_align_rotated_forward(input, rois, output, pooled_height, pooled_width, spatial_scale, sampling_ratio, aligned,
                              clockwise):
    output.copy_(forward(*floats(input=input, rois=rois), pooled_height, pooled_width, max(sampling_ratio, 0),
                         float(spatial_scale), aligned, clockwise))


def roi_align_rotated_backward(grad_output, rois, grad_input, pooled_height, pooled_width, spatial_scale, sampling_ratio,
                               aligned, clockwise):
    batch, _, height, width = grad_input.shape
    grad_input.copy_(gradient(*floats(grad_output=grad_output, rois=rois), batch, height, width,
                              max(sampling_ratio, 0), float(spatial_scale), aligned, clockwise))


def _invariant(pooled_height, pooled_width, spatial_scale, num_samples, num_orientations, clockwise):
    return (pooled_height, pooled_width), spatial_scale, num_samples, num_orientations, clockwise


def riroi_align_rotated_forward(features, rois, output, **settings):
    output.copy_(riroi_align_rotated(features.detach(), rois, *_invariant(**settings)))


def riroi_align_rotated_backward(grad_output, rois, grad_input, **settings):
    leaf = torch.zeros_like(grad_input, requires_grad=True)  # of features, in which it is linear
    with torch.enable_grad():
        found = riroi_align_rotated(leaf, rois, *_invariant(**settings))
    grad_input.copy_(torch.autograd.grad(found, leaf, grad_output.to(found.dtype))[0])


ENTRY_POINTS = (roi_align_rotated_forward, roi_align_rotated_backward, riroi_align_rotated_forward,
                riroi_align_rotated_backward)
KEEPS_OWN = ("roi_align_rotated_forward", "roi_align_rotated_backward")
