"""Bias, activation, gain and clamp in one, and the derivatives of that, by the number that extensions give each activation.
Compositions of torch's operators."""

import torch

from ..._errors import bad_param
from .._tensors import floats

# SELU's two numbers.
_LAMBDA, _ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717


def _along(x, bias, dim):
    """A bias for one axis."""
    return bias.reshape([-1 if i == dim else 1 for i in range(x.dim())])


def _softplus_slope(y):
    return 1 - torch.exp(-y)


def _swish_slope(x):
    s = torch.sigmoid(x)
    return s * (1 + x * (1 - s))


def _swish_curve(x):
    s = torch.sigmoid(x)
    return s * (1 - s) * (2 + x * (1 - 2 * s))


# For each activation its value; its slope and its curve from x and the value y.
_FORMS = {
    1: (lambda x, a: x, lambda x, y, a: torch.ones_like(y), None),
    2: (lambda x, a: x.clamp(min=0), lambda x, y, a: (y > 0).to(y.dtype), None),
    3: (lambda x, a: torch.where(x > 0, x, x * a), lambda x, y, a: torch.where(y > 0, 1.0, a).to(y.dtype), None),
    4: (lambda x, a: torch.tanh(x), lambda x, y, a: 1 - y * y, lambda x, y, a: -2 * y * (1 - y * y)),
    5: (lambda x, a: torch.sigmoid(x), lambda x, y, a: y * (1 - y), lambda x, y, a: y * (1 - y) * (1 - 2 * y)),
    6: (lambda x, a: torch.nn.functional.elu(x), lambda x, y, a: torch.where(y >= 0, torch.ones_like(y), y + 1),
        lambda x, y, a: torch.where(y >= 0, torch.zeros_like(y), y + 1)),
    7: (lambda x, a: torch.selu(x),
        lambda x, y, a: torch.where(y >= 0, torch.full_like(y, _LAMBDA), y + _LAMBDA * _ALPHA),
        lambda x, y, a: torch.where(y >= 0, torch.zeros_like(y), y + _LAMBDA * _ALPHA)),
    8: (lambda x, a: torch.nn.functional.softplus(x), lambda x, y, a: _softplus_slope(y),
        lambda x, y, a: torch.exp(-y) * _softplus_slope(y)),
    9: (lambda x, a: x * torch.sigmoid(x), lambda x, y, a: _swish_slope(x), lambda x, y, a: _swish_curve(x)),
}


def _form(act):
    if act not in _FORMS:
        raise bad_param("act", f"one of {sorted(_FORMS)}", act)
    return _FORMS[act]


def value(x, act, alpha):
    return _form(act)[0](x, alpha)


def derivative(order, act, x, y, alpha):
    """The slope (order 1) or curve (order 2) where the activation's argument is x and its value y."""
    form = _form(act)[order]
    return torch.zeros_like(y) if form is None else form(x, y, alpha)


def _present(tensor):
    return tensor is not None and tensor.numel() > 0


def fused_bias_act(input, bias, refer, act, grad, alpha, scale):
    """StyleGAN2's: (input + bias) activated, times scale; grad 1: times the slope where the value is `refer`."""
    x, = floats(input=input)
    if _present(bias):
        x = x + _along(x, bias.to(x.dtype), 1)
    if grad == 0:
        return value(x, act, alpha) * scale
    refer = refer.to(x.dtype) if _present(refer) else torch.zeros_like(x)
    return x * derivative(grad, act, refer, refer, alpha) * scale


def bias_act(x, b, xref, yref, dy, grad, dim, act, alpha, gain, clamp):
    """StyleGAN2-ADA's. grad 0: the value of x + b; grad 1: x times the slope where the argument was xref + b and the value
    yref; grad 2: x and dy times the curve there."""
    x, = floats(x=x)
    bias = _along(x, b.to(x.dtype), dim) if _present(b) else 0
    if grad == 0:
        y = value(x + bias, act, alpha) * gain
        return y.clamp(-clamp, clamp) if clamp >= 0 else y
    at = xref.to(x.dtype) + bias if _present(xref) else torch.zeros_like(x)
    was = yref.to(x.dtype) / gain if _present(yref) else torch.zeros_like(x)
    y = x * derivative(grad, act, at, was, alpha) * gain
    if _present(dy):
        y = y * dy.to(x.dtype)
    return torch.where((was * gain).abs() < clamp, y, torch.zeros_like(y)) if clamp >= 0 else y
