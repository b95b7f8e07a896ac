"""riroi_align_cuda of ReDet: rotated RoIs of features whose orientations turn with the RoI."""

import torch

from ...torch._buffers import add, fill
from ...torch._tensors import floats
from ...torch.op.roi_align_rotated import riroi_align_rotated

__all__ = ["backward", "forward"]

PACKAGE = "mmdet"
NAMES = ("riroi_align_cuda", "*.riroi_align_cuda")
UNSERVED = tuple(f"{prefix}{name}" for name in ("convex_ext", "psroi_align_rotated_cuda") for prefix in ("", "*."))


def forward(features, rois, out_h, out_w, spatial_scale, sample_num, orientations, output):
    """RoIs: batch index, x, y, w, h, angle, clockwise."""
    found = riroi_align_rotated(features.detach(), rois.detach(), (out_h, out_w), spatial_scale, max(sample_num, 0),
                                orientations, True)
    fill("output", output, found)
    return 1


def backward(grad_output, rois, out_h, out_w, spatial_scale, sample_num, orientations, grad_input):
    """Added to what there is."""
    grad, rois = floats(grad_output=grad_output, rois=rois.detach())
    like = torch.zeros(grad_input.shape, dtype=grad.dtype, requires_grad=True)  # the operator is linear
    with torch.enable_grad():
        found = riroi_align_rotated(like, rois, (out_h, out_w), spatial_scale, max(sample_num, 0), orientations, True)
    add("grad_input", grad_input, torch.autograd.grad(found, like, grad)[0])
    return 1
