"""top_pool of CornerNet and its descendants."""

from .._corner_pool import gradient, greatest

__all__ = ["backward", "forward"]

PACKAGE = "cpools"
NAMES = ("top_pool", "*.top_pool")


def forward(input):
    return [greatest(input, 2, True)]


def backward(input, grad_output):
    return [gradient(input, grad_output, 2, True)]
