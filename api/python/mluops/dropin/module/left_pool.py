"""left_pool of CornerNet and its descendants."""

from .._corner_pool import gradient, greatest

__all__ = ["backward", "forward"]

PACKAGE = "cpools"
NAMES = ("left_pool", "*.left_pool")


def forward(input):
    return [greatest(input, 3, True)]


def backward(input, grad_output):
    return [gradient(input, grad_output, 3, True)]
