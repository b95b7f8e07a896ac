"""sigmoid_focal_loss_cuda and _ext of mmdet 1, whose targets count from 1, and of 2.0, where they count from 0."""

from ...torch.filling import focal_legacy
from .._versions import mmdet_is_new

__all__ = ["backward", "forward"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}" for name in ("sigmoid_focal_loss_cuda", "sigmoid_focal_loss_ext") for prefix in ("", "*."))


def _first():
    return 0 if mmdet_is_new() else 1


def forward(input, target, num_classes, gamma, alpha):
    return focal_legacy.sigmoid_focal_loss_forward(input, target, gamma, alpha, _first())


def backward(input, target, d_loss, num_classes, gamma, alpha):
    return focal_legacy.sigmoid_focal_loss_backward(input, target, d_loss, gamma, alpha, _first())
