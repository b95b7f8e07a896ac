"""correlation, which mmcv has no CPU code for."""

import torch

from ...torch.op.correlation import correlation


def _settings(kH, kW, patchH, patchW, padH, padW, dilationH, dilationW, dilation_patchH, dilation_patchW, dH, dW):
    """mmcv's patches are square."""
    return ((kH, kW), (patchH - 1) // 2, (dH, dW), (padH, padW), (dilationH, dilationW),
            (dilation_patchH, dilation_patchW))


def correlation_forward(input1, input2, output, **settings):
    output.copy_(correlation(input1.detach(), input2.detach(), *_settings(**settings)))


def correlation_backward(grad_output, input1, input2, grad_input1, grad_input2, **settings):
    with torch.enable_grad():
        leaves = [each.detach().requires_grad_() for each in (input1, input2)]
        gradients = torch.autograd.grad(correlation(*leaves, *_settings(**settings)), leaves, grad_output)
    for gradient, found in zip((grad_input1, grad_input2), gradients):
        gradient.copy_(found)


ENTRY_POINTS = COMPOSED = (correlation_forward, correlation_backward)
