"""prroi_pool."""

from ...torch._tensors import floats
from ...torch.op.prroi_pool import forward, gradients


def prroi_pool_forward(input, rois, output, pooled_height, pooled_width, spatial_scale):
    output.copy_(forward(*floats(input=input, rois=rois), pooled_height, pooled_width, float(spatial_scale)))


def prroi_pool_backward(grad_output, rois, grad_input, pooled_height, pooled_width, spatial_scale):
    tensors = floats(grad_output=grad_output, input=grad_input, rois=rois)  # the gradient does not depend on input
    grad_input.copy_(gradients(*tensors, float(spatial_scale), True, False)[0])


def prroi_pool_coor_backward(output, grad_output, input, rois, grad_rois, pooled_height, pooled_width, spatial_scale):
    tensors = floats(grad_output=grad_output, input=input, rois=rois)
    grad_rois.copy_(gradients(*tensors, float(spatial_scale), False, True)[1])


ENTRY_POINTS = (prroi_pool_forward, prroi_pool_backward, prroi_pool_coor_backward)
