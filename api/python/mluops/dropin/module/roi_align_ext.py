"""roi_align_cuda and roi_align_ext of mmdet 1 and 2.0. Version 1 counts the last pixel of a RoI in."""

from ...torch._buffers import fill
from ...torch.filling import roi_legacy

__all__ = ["backward", "backward_v1", "backward_v2", "forward", "forward_v1", "forward_v2"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}" for name in ("roi_align_cuda", "roi_align_ext") for prefix in ("", "*."))


def _grown(rois, spatial_scale):
    """RoIs that our operator, which takes half a pixel off corners and leaves small sides as they are, sees as version 1
    does."""
    half = 0.5 / spatial_scale
    return rois + rois.new_tensor([0, half, half, half + 1, half + 1])


def forward_v1(features, rois, out_h, out_w, spatial_scale, sample_num, output):
    fill("output", output, roi_legacy.roi_align_forward(features, _grown(rois, spatial_scale), spatial_scale, out_h, out_w,
                                                        sample_num, True))
    return 1


def backward_v1(grad_output, rois, out_h, out_w, spatial_scale, sample_num, grad_input):
    batch, _, height, width = grad_input.shape
    found = roi_legacy.roi_align_backward(grad_output, _grown(rois, spatial_scale), spatial_scale, batch, height, width,
                                          sample_num, True)
    fill("grad_input", grad_input, found)
    return 1


forward, backward = forward_v1, backward_v1


def forward_v2(features, rois, spatial_scale, out_h, out_w, sample_num, aligned):
    return roi_legacy.roi_align_forward(features, rois, spatial_scale, out_h, out_w, sample_num, bool(aligned))


def backward_v2(grad_output, rois, spatial_scale, out_h, out_w, batch_size, channels, height, width, sample_num, aligned):
    return roi_legacy.roi_align_backward(grad_output, rois, spatial_scale, batch_size, height, width, sample_num,
                                         bool(aligned))
