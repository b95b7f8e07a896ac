"""RoIPool."""

from ...torch._tensors import floats
from ...torch.op.roi_pool import forward, gradient


def roi_pool_forward(input, rois, output, argmax, pooled_height, pooled_width, spatial_scale):
    x, r = floats(input=input, rois=rois)
    for buffer, result in zip((output, argmax), forward(x, r, pooled_height, pooled_width, float(spatial_scale))):
        buffer.copy_(result)


def roi_pool_backward(grad_output, rois, argmax, grad_input, pooled_height, pooled_width, spatial_scale):
    g, r = floats(grad_output=grad_output, rois=rois)
    batch, _, height, width = grad_input.shape
    grad_input.copy_(gradient(g, r, argmax.int(), batch, height, width, float(spatial_scale)))


ENTRY_POINTS = (roi_pool_forward, roi_pool_backward)
