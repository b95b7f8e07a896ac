"""bezier_align. A compiled mmcv has CPU code for it and keeps it."""

from ...torch._sampled import gradient_into
from ...torch.op.bezier_align import bezier_align


def _settings(aligned_height, aligned_width, spatial_scale, sampling_ratio, aligned):
    return (aligned_height, aligned_width), spatial_scale, sampling_ratio, aligned


def bezier_align_forward(input, beziers, output, **settings):
    output.copy_(bezier_align(input.detach(), beziers, *_settings(**settings)))


def bezier_align_backward(grad_output, beziers, grad_input, **settings):
    gradient_into(grad_input, grad_output, bezier_align, beziers, *_settings(**settings))


ENTRY_POINTS = COMPOSED = (bezier_align_forward, bezier_align_backward)
KEEPS_OWN = ("bezier_align_forward", "bezier_align_backward")
