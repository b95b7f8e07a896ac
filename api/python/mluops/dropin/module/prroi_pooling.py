"""_prroi_pooling, which PreciseRoIPooling compiles (trackers ATOM, DiMP and their descendants)."""

from ...torch._tensors import floats
from ...torch.op.prroi_pool import forward as _forward
from ...torch.op.prroi_pool import gradients as _gradients

__all__ = ["prroi_pooling_backward_cuda", "prroi_pooling_coor_backward_cuda", "prroi_pooling_forward_cuda"]

PACKAGE = "prroi_pool"
NAMES = ("_prroi_pooling", "*._prroi_pooling")
BUILT = ("_prroi_pooling", "prroi_pooling_gpu", "prroi_pooling_gpu_impl")


def prroi_pooling_forward_cuda(features, rois, pooled_height, pooled_width, spatial_scale):
    """RoIs: batch index, x1, y1, x2, y2."""
    x, r = floats(features=features, rois=rois)
    return _forward(x, r, pooled_height, pooled_width, float(spatial_scale))


def _of(features, rois, output_diff, spatial_scale, which):
    g, x, r = floats(output_diff=output_diff, features=features, rois=rois)
    return _gradients(g, x, r, float(spatial_scale), which == 0, which == 1)[which]


def prroi_pooling_backward_cuda(features, rois, output, output_diff, pooled_height, pooled_width, spatial_scale):
    return _of(features, rois, output_diff, spatial_scale, 0)


def prroi_pooling_coor_backward_cuda(features, rois, output, output_diff, pooled_height, pooled_width, spatial_scale):
    return _of(features, rois, output_diff, spatial_scale, 1)
