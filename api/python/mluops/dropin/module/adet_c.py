"""adet._C of AdelaiDet, and of DeepSolo and others that have deformable attention there."""

import torch

from ...torch._buffers import add
from ...torch._tensors import floats
from ...torch.filling.def_roi_align import def_roi_align
from ...torch.filling.ms_deform_attn import ms_deform_attn_forward
from ...torch.op.bezier_align import forward as _bezier
from ...torch.op.bezier_align import gradient as _bezier_gradient
from .maskrcnn_benchmark_c import ml_nms
from .multi_scale_deformable_attention import ms_deform_attn_backward

__all__ = ["bezier_align_backward", "bezier_align_forward", "def_roi_align_backward", "def_roi_align_forward", "ml_nms",
           "ms_deform_attn_backward", "ms_deform_attn_forward"]

PACKAGE = "adet"
NAMES = ("adet._C",)


def bezier_align_forward(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned):
    """RoIs: batch index and 8 points x, y."""
    x, r = floats(input=input, rois=rois)
    return _bezier(x, r, pooled_height, pooled_width, float(spatial_scale), max(sampling_ratio, 0), bool(aligned))


def bezier_align_backward(grad, rois, spatial_scale, pooled_height, pooled_width, batch_size, channels, height, width,
                          sampling_ratio, aligned):
    g, r = floats(grad=grad, rois=rois)
    return _bezier_gradient(g, r, batch_size, height, width, float(spatial_scale), max(sampling_ratio, 0), bool(aligned))


def def_roi_align_forward(input, rois, offsets, spatial_scale, pooled_height, pooled_width, sampling_ratio, trans_std,
                          aligned):
    tensors = (each.detach() for each in floats(input=input, rois=rois, offsets=offsets))
    return def_roi_align(*tensors, spatial_scale, pooled_height, pooled_width, sampling_ratio, trans_std, aligned)


def def_roi_align_backward(input, grad, rois, offsets, grad_offsets, spatial_scale, pooled_height, pooled_width, batch_size,
                           channels, height, width, sampling_ratio, trans_std, aligned):
    """The gradient of input; that of offsets is added to its buffer."""
    x, r, o, g = floats(input=input, rois=rois, offsets=offsets, grad=grad)
    x, o = x.detach().requires_grad_(), o.detach().requires_grad_()
    with torch.enable_grad():
        out = def_roi_align(x, r, o, spatial_scale, pooled_height, pooled_width, sampling_ratio, trans_std, aligned)
    of_input, of_offsets = torch.autograd.grad(out, (x, o), g)
    add("grad_offsets", grad_offsets, of_offsets)
    return of_input
