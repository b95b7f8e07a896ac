"""active_rotated_filter. A compiled mmcv has CPU code for it and keeps it."""

from ...torch.op.active_rotated_filter import active_rotated_filter, turned_back


def active_rotated_filter_forward(input, indices, output):
    output.copy_(active_rotated_filter(input.detach(), indices))


def active_rotated_filter_backward(grad_out, indices, grad_in):
    grad_in.copy_(turned_back(grad_out, indices, tuple(grad_in.shape)))


ENTRY_POINTS = COMPOSED = (active_rotated_filter_forward, active_rotated_filter_backward)
KEEPS_OWN = ("active_rotated_filter_forward", "active_rotated_filter_backward")
