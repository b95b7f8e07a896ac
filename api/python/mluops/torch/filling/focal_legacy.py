"""The sigmoid focal loss with one-hot targets, T [N, C]; classes count from `first`, and targets less than 0 are left out."""

import torch

from ..op.focal_loss import sigmoid_forward, sigmoid_gradient
from .._integers import int32
from .._tensors import floats


def _arguments(logits, targets, first):
    """Our targets count from 0; the background is the number of classes."""
    x, = floats(logits=logits)
    targets = int32("targets", targets)
    known = (targets >= 0)[:, None]
    classes = torch.where((targets < first) | (targets >= x.shape[1] + first), x.shape[1], (targets - first).long())
    return x.contiguous(), classes.int(), known.to(x.dtype)


def sigmoid_focal_loss_forward(logits, targets, gamma, alpha, first):
    x, classes, known = _arguments(logits.detach(), targets, first)
    return sigmoid_forward(x, classes, None, float(gamma), float(alpha)) * known


def sigmoid_focal_loss_backward(logits, targets, d_losses, gamma, alpha, first):
    x, classes, known = _arguments(logits.detach(), targets, first)
    slope = torch.empty_like(x)
    sigmoid_gradient.form.call(slope, None, x, classes, None, float(gamma), float(alpha))
    return slope * known * d_losses.to(x.dtype)
