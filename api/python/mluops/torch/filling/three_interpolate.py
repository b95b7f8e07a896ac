"""three_interpolate."""

from .._buffers import fill
from .._integers import index32
from .._tensors import floats
from ..op.three_interpolate import forward, gradient


def three_interpolate_forward(points_tensor, idx_tensor, weight_tensor, out_tensor, b, c, m, n):
    f, w = floats(features=points_tensor, weight=weight_tensor)
    fill("out_tensor", out_tensor, forward(f, index32("indices", idx_tensor), w))


def three_interpolate_backward(grad_out_tensor, idx_tensor, weight_tensor, grad_points_tensor, b, c, n, m):
    g, w = floats(grad_output=grad_out_tensor, weight=weight_tensor)
    fill("grad_points_tensor", grad_points_tensor, gradient(g, index32("indices", idx_tensor), w, m))
