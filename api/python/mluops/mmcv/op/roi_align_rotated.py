"""roi_align_rotated, whose CPU code a compiled mmcv keeps, and riroi_align_rotated, which has none."""

from ...torch._sampled import gradient_into
from ...torch.op.roi_align_rotated import riroi_align_rotated, roi_align_rotated


def _turned(pooled_height, pooled_width, spatial_scale, sampling_ratio, aligned, clockwise):
    return (pooled_height, pooled_width), spatial_scale, sampling_ratio, aligned, clockwise


def _invariant(pooled_height, pooled_width, spatial_scale, num_samples, num_orientations, clockwise):
    return (pooled_height, pooled_width), spatial_scale, num_samples, num_orientations, clockwise


def roi_align_rotated_forward(input, rois, output, **settings):
    output.copy_(roi_align_rotated(input.detach(), rois, *_turned(**settings)))


def roi_align_rotated_backward(grad_output, rois, grad_input, **settings):
    gradient_into(grad_input, grad_output, roi_align_rotated, rois, *_turned(**settings))


def riroi_align_rotated_forward(features, rois, output, **settings):
    output.copy_(riroi_align_rotated(features.detach(), rois, *_invariant(**settings)))


def riroi_align_rotated_backward(grad_output, rois, grad_input, **settings):
    gradient_into(grad_input, grad_output, riroi_align_rotated, rois, *_invariant(**settings))


ENTRY_POINTS = COMPOSED = (roi_align_rotated_forward, roi_align_rotated_backward, riroi_align_rotated_forward,
                           riroi_align_rotated_backward)
KEEPS_OWN = ("roi_align_rotated_forward", "roi_align_rotated_backward")
