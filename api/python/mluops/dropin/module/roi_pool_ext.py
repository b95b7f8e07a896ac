"""roi_pool_cuda and roi_pool_ext of mmdet 1 and 2.0: mmcv's RoI pooling."""

from ...torch.filling import roi_pool as _ours

__all__ = ["backward", "forward"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}" for name in ("roi_pool_cuda", "roi_pool_ext") for prefix in ("", "*."))


def forward(features, rois, pooled_height, pooled_width, spatial_scale, output, argmax):
    _ours.roi_pool_forward(features, rois, output, argmax, pooled_height, pooled_width, spatial_scale)
    return 1


def backward(grad_output, rois, argmax, spatial_scale, grad_input):
    height, width = grad_output.shape[2:]
    _ours.roi_pool_backward(grad_output, rois, argmax, grad_input, height, width, spatial_scale)
    return 1
