"""sigmoid_focal_loss and softmax_focal_loss."""

import torch

from ..._functions.focal_loss import FOCAL_LOSS_SOFTMAX_FORWARD
from .._buffers import fill
from .._integers import int32
from .._tensors import floats, run
from ..op.focal_loss import sigmoid_forward, sigmoid_gradient, softmax_gradient


def _arguments(input, target, weight):
    """mmcv passes an empty tensor where there is no weight."""
    x, w = floats("weight", input=input, weight=weight if weight.numel() > 0 else None)
    return x, int32("target", target), w


def sigmoid_focal_loss_forward(input, target, weight, output, gamma, alpha):
    fill("output", output, sigmoid_forward(*_arguments(input, target, weight), gamma, alpha))


def sigmoid_focal_loss_backward(input, target, weight, grad_input, gamma, alpha):
    x, t, w = _arguments(input, target, weight)
    result = torch.empty(x.shape, dtype=x.dtype)
    sigmoid_gradient.form.call(result, None, x, t, w, gamma, alpha)
    fill("grad_input", grad_input, result)


def softmax_focal_loss_forward(input, target, weight, output, gamma, alpha):
    x, t, w = _arguments(input, target, weight)
    result = torch.empty(x.shape[:1], dtype=x.dtype)
    run(FOCAL_LOSS_SOFTMAX_FORWARD, x, t, w, alpha, gamma, result)
    fill("output", output, result)


def softmax_focal_loss_backward(input, target, weight, buff, grad_input, gamma, alpha):
    x, t, w = _arguments(input, target, weight)
    result = torch.empty(x.shape, dtype=x.dtype)
    softmax_gradient.form.call(result, None, x, t, w, gamma, alpha)
    fill("grad_input", grad_input, result)
