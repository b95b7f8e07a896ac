"""furthest_point_sample."""

from .._buffers import fill
from .._tensors import floats
from ..op.furthest_point_sample import forward, forward_with_dist


def furthest_point_sampling_forward(points_tensor, temp_tensor, idx_tensor, b, n, m):
    fill("idx_tensor", idx_tensor, forward(points_tensor, m))


def furthest_point_sampling_with_dist_forward(points_tensor, temp_tensor, idx_tensor, b, n, m):
    fill("idx_tensor", idx_tensor, forward_with_dist(points_tensor, m))
