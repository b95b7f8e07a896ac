"""bezier_align. A compiled mmcv has CPU code for it and keeps it."""

from ...torch._tensors import floats
from ...torch.op.bezier_align import forward, gradient


def bezier_align_forward(input, beziers, output, aligned_height, aligned_width, spatial_scale, sampling_ratio, aligned):
    output.copy_(forward(*floats(input=input, beziers=beziers), aligned_height, aligned_width, float(spatial_scale),
                         max(sampling_ratio, 0), bool(aligned)))


def bezier_align_backward(grad_output, beziers, grad_input, aligned_height, aligned_width, spatial_scale,
                          sampling_ratio, aligned):
    batch, _, height, width = grad_input.shape
    grad_input.copy_(gradient(*floats(grad_output=grad_output, beziers=beziers), batch, height, width,
                              float(spatial_scale), max(sampling_ratio, 0), bool(aligned)))


ENTRY_POINTS = (bezier_align_forward, bezier_align_backward)
KEEPS_OWN = ("bezier_align_forward", "bezier_align_backward")
