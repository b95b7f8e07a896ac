"""RoIPool."""

from .._buffers import fill, fill_all
from .._tensors import floats
from ..op.roi_pool import forward, gradient


def roi_pool_forward(input, rois, output, argmax, pooled_height, pooled_width, spatial_scale):
    x, r = floats(input=input, rois=rois)
    results = forward(x, r, pooled_height, pooled_width, float(spatial_scale))
    fill_all(results, output=output, argmax=argmax)


def roi_pool_backward(grad_output, rois, argmax, grad_input, pooled_height, pooled_width, spatial_scale):
    g, r = floats(grad_output=grad_output, rois=rois)
    batch, _, height, width = grad_input.shape
    fill("grad_input", grad_input, gradient(g, r, argmax.int(), batch, height, width, float(spatial_scale)))
