"""pointnet2_ops._ext, the extension of Pointnet2_PyTorch, and other names it is built under."""

import torch

from ...torch._integers import index32
from ...torch._tensors import floats
from ...torch.op import furthest_point_sample as _fps
from ...torch.op.ball_query import forward as _ball_query
from ...torch.op.gather_points import gather, gather_gradient, group, group_gradient
from ...torch.op.three_interpolate import forward as _interpolate
from ...torch.op.three_interpolate import gradient as _interpolate_gradient
from ...torch.op.three_nn import forward as _three_nn

__all__ = ["ball_query", "furthest_point_sampling", "gather_points", "gather_points_grad", "group_points",
           "group_points_grad", "three_interpolate", "three_interpolate_grad", "three_nn"]

PACKAGE = "pointnet2_ops"
NAMES = ("pointnet2_ops._ext", "pointnet2._ext", "*.pointnet2._ext")

_NEAR_ORIGIN = 1e-3  # squared distance up to which a point counts as padding


def furthest_point_sampling(points, nsamples):
    """Points next to the origin are never picked, but as the first: the first point in their place is as far as it is."""
    padding = (points.float() ** 2).sum(2, keepdim=True) <= _NEAR_ORIGIN
    return _fps.forward(*floats(points=torch.where(padding, points[:, :1], points)), nsamples)


def gather_points(points, idx):
    return gather(points, index32("idx", idx))


def gather_points_grad(grad_out, idx, n):
    return gather_gradient(grad_out, index32("idx", idx), n)


def group_points(points, idx):
    return group(points, index32("idx", idx))


def group_points_grad(grad_out, idx, n):
    return group_gradient(grad_out, index32("idx", idx), n)


def ball_query(new_xyz, xyz, radius, nsample):
    points, centers = floats(xyz=xyz, new_xyz=new_xyz)
    return _ball_query(points, centers, 0.0, float(radius), nsample)


def three_nn(unknowns, knows):
    """Squares of the distances, and indices."""
    return list(_three_nn(*floats(unknowns=unknowns, knows=knows)))


def three_interpolate(points, idx, weight):
    points, weight = floats(points=points, weight=weight)
    return _interpolate(points, index32("idx", idx), weight)


def three_interpolate_grad(grad_out, idx, weight, m):
    grad_out, weight = floats(grad_out=grad_out, weight=weight)
    return _interpolate_gradient(grad_out, index32("idx", idx), weight, m)
