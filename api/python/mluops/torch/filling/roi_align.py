"""RoIAlign."""

from .._buffers import fill, fill_all
from .._tensors import floats
from ..op.roi_align import forward, gradient


def _optional(argmax):
    """mmcv passes an empty tensor where the mean has none."""
    return argmax if argmax.numel() > 0 else None


def roi_align_forward(input, rois, output, argmax_y, argmax_x, aligned_height, aligned_width, spatial_scale,
                      sampling_ratio, pool_mode, aligned):
    x, r = floats(input=input, rois=rois)
    results = forward(x, r, aligned_height, aligned_width, float(spatial_scale), sampling_ratio, pool_mode, aligned)
    fill_all([each for each in results if each.numel() > 0], output=output, argmax_y=argmax_y, argmax_x=argmax_x)


def roi_align_backward(grad_output, rois, argmax_y, argmax_x, grad_input, aligned_height, aligned_width,
                       spatial_scale, sampling_ratio, pool_mode, aligned):
    g, r = floats(grad_output=grad_output, rois=rois)
    winners = [None if _optional(each) is None else each.to(g.dtype) for each in (argmax_y, argmax_x)]
    batch, _, height, width = grad_input.shape
    found = gradient(g, r, *winners, batch, height, width, float(spatial_scale), sampling_ratio, pool_mode, aligned)
    fill("grad_input", grad_input, found)
