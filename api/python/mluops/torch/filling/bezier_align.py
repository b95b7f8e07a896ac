"""bezier_align."""

from .._buffers import fill
from .._tensors import floats
from ..op.bezier_align import forward, gradient


def bezier_align_forward(input, beziers, output, aligned_height, aligned_width, spatial_scale, sampling_ratio, aligned):
    found = forward(*floats(input=input, beziers=beziers), aligned_height, aligned_width, float(spatial_scale),
                    max(sampling_ratio, 0), bool(aligned))
    fill("output", output, found)


def bezier_align_backward(grad_output, beziers, grad_input, aligned_height, aligned_width, spatial_scale,
                          sampling_ratio, aligned):
    batch, _, height, width = grad_input.shape
    found = gradient(*floats(grad_output=grad_output, beziers=beziers), batch, height, width, float(spatial_scale),
                     max(sampling_ratio, 0), bool(aligned))
    fill("grad_input", grad_input, found)
