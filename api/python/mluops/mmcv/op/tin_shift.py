"""tin_shift. The gradient is mmcv's, which moves gradients the way features go; mluops.torch moves them back."""

from ...torch.op.tin_shift import tin_shift


def tin_shift_forward(input, shift, output):
    output.copy_(tin_shift(input.detach(), shift))


def tin_shift_backward(grad_output, shift, grad_input):
    grad_input.copy_(tin_shift(grad_output, shift))


ENTRY_POINTS = (tin_shift_forward, tin_shift_backward)
