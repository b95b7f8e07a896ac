"""RoIAlign. A compiled mmcv has CPU code for it and keeps it."""

from ...torch._tensors import floats
from ...torch.op.roi_align import forward, gradient


def _optional(argmax):
    """mmcv passes an empty tensor where the mean has none."""
    return argmax if argmax.numel() > 0 else None


def roi_align_forward(input, rois, output, argmax_y, argmax_x, aligned_height, aligned_width, spatial_scale,
                      sampling_ratio, pool_mode, aligned):
    x, r = floats(input=input, rois=rois)
    results = forward(x, r, aligned_height, aligned_width, float(spatial_scale), sampling_ratio, pool_mode, aligned)
    for buffer, result in zip((output, argmax_y, argmax_x), results):
        buffer.copy_(result)


def roi_align_backward(grad_output, rois, argmax_y, argmax_x, grad_input, aligned_height, aligned_width,
                       spatial_scale, sampling_ratio, pool_mode, aligned):
    g, r = floats(grad_output=grad_output, rois=rois)
    winners = [None if _optional(each) is None else each.to(g.dtype) for each in (argmax_y, argmax_x)]
    batch, _, height, width = grad_input.shape
    grad_input.copy_(gradient(g, r, *winners, batch, height, width, float(spatial_scale), sampling_ratio, pool_mode,
                              aligned))


ENTRY_POINTS = (roi_align_forward, roi_align_backward)
KEEPS_OWN = ("roi_align_forward", "roi_align_backward")
