"""sigmoid_focal_loss and softmax_focal_loss. mmcv's function rounds the softmax of halves to halves and takes its logarithm:
of a probability below 6e-8 that is the logarithm of 0. With mluops the function computes in float."""

import importlib

import torch

from ...torch._integers import int32
from ...torch._tensors import floats, run
from ...torch.op.focal_loss import SOFTMAX_FORWARD, sigmoid_derivative, sigmoid_forward, softmax_derivative


def _arguments(input, target, weight):
    """mmcv passes an empty tensor where there is no weight."""
    x, w = floats("weight", input=input, weight=weight if weight.numel() > 0 else None)
    return x, int32("target", target), w


def sigmoid_focal_loss_forward(input, target, weight, output, gamma, alpha):
    output.copy_(sigmoid_forward(*_arguments(input, target, weight), gamma, alpha))


def sigmoid_focal_loss_backward(input, target, weight, grad_input, gamma, alpha):
    x, t, w = _arguments(input, target, weight)
    result = torch.empty(x.shape, dtype=x.dtype)
    sigmoid_derivative(result, x, t, w, gamma, alpha)
    grad_input.copy_(result)


def softmax_focal_loss_forward(input, target, weight, output, gamma, alpha):
    x, t, w = _arguments(input, target, weight)
    result = torch.empty(x.shape[:1], dtype=x.dtype)
    run(SOFTMAX_FORWARD, x, t, w, alpha, gamma, result)
    output.copy_(result)


def softmax_focal_loss_backward(input, target, weight, buff, grad_input, gamma, alpha):
    x, t, w = _arguments(input, target, weight)
    result = torch.empty(x.shape, dtype=x.dtype)
    softmax_derivative(result, x, t, w, gamma, alpha)
    grad_input.copy_(result)


ENTRY_POINTS = (sigmoid_focal_loss_forward, sigmoid_focal_loss_backward, softmax_focal_loss_forward,
                softmax_focal_loss_backward)


def _softmax_function_forward(ctx, input, *others, **more):
    own = importlib.import_module("mmcv.ops.focal_loss").SoftmaxFocalLossFunction.forward.original
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    return own(ctx, wide, *others, **more).to(input.dtype)


METHODS = {("mmcv.ops.focal_loss", "SoftmaxFocalLossFunction", "forward"): _softmax_function_forward}
