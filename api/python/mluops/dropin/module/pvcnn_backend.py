"""_pvcnn_backend, which PVCNN compiles at import: points [B, 3, N] and voxels of a cube."""

import torch

from ...torch._integers import index32
from ...torch._tensors import floats
from ...torch.filling.pixels import bags
from ...torch.op import furthest_point_sample as _fps
from ...torch.op.ball_query import forward as _ball_query
from ...torch.op.gather_points import gather, gather_gradient, group, group_gradient
from ...torch.op.three_interpolate import forward as _interpolate
from ...torch.op.three_interpolate import gradient as _interpolate_gradient
from ...torch.op.three_nn import forward as _three_nn

__all__ = ["avg_voxelize_backward", "avg_voxelize_forward", "ball_query", "furthest_point_sampling",
           "gather_features_backward", "gather_features_forward", "grouping_backward", "grouping_forward",
           "three_nearest_neighbors_interpolate_backward", "three_nearest_neighbors_interpolate_forward",
           "trilinear_devoxelize_backward", "trilinear_devoxelize_forward"]

PACKAGE = "pvcnn"
NAMES = ("_pvcnn_backend", "*._pvcnn_backend")
BUILT = ("_pvcnn_backend",)

_LEAST, _MOST = 1e-10, 1e10  # squared distances that weights are made of


def _rows(points):
    return points.transpose(1, 2).contiguous()


def gather_features_forward(features, indices):
    return gather(features, index32("indices", indices))


def gather_features_backward(grad, indices, points):
    return gather_gradient(grad, index32("indices", indices), points)


def grouping_forward(features, indices):
    return group(features, index32("indices", indices))


def grouping_backward(grad, indices, points):
    return group_gradient(grad, index32("indices", indices), points)


def furthest_point_sampling(coords, centers):
    return _fps.forward(*floats(coords=_rows(coords)), centers)


def ball_query(centers, points, radius, neighbours):
    p, c = floats(points_coords=_rows(points), centers_coords=_rows(centers))
    return _ball_query(p, c, 0.0, float(radius), neighbours)


def three_nearest_neighbors_interpolate_forward(points, centers, features):
    """The features of points, and the indices and weights [B, 3, N] of their neighbours."""
    p, c, features = floats(points=_rows(points), centers=_rows(centers), features=features)
    squares, indices = _three_nn(p, c)
    a, b, d = (squares if squares.dtype == p.dtype else squares.to(p.dtype)).clamp(_LEAST, _MOST).unbind(2)
    weights = torch.stack([b * d, a * d, a * b], 2) / (a * b + a * d + b * d)[..., None]
    made = _interpolate(features, indices, weights)
    return [made, indices.transpose(1, 2).contiguous(), weights.transpose(1, 2).contiguous()]


def three_nearest_neighbors_interpolate_backward(grad, indices, weights, centers):
    g, w = floats(grad=grad, weights=_rows(weights))
    return _interpolate_gradient(g, index32("indices", _rows(indices)), w, centers)


def avg_voxelize_forward(features, coords, resolution):
    """The mean of each voxel's points [B, C, R^3], the voxel of each point and how many points a voxel has."""
    voxels = resolution ** 3
    x, y, z = coords.long().unbind(1)
    index = (x * resolution + y) * resolution + z
    if index.numel() and (int(index.min()) < 0 or int(index.max()) >= voxels):
        raise ValueError(f"coords: wanted voxels of a cube of {resolution}, got one outside")
    counts = torch.stack([each.bincount(minlength=voxels) for each in index])
    sums = torch.stack([one.new_zeros(one.shape[0], voxels).index_add(1, at, one) for one, at in zip(features.detach(), index)])
    return [sums / counts.clamp(min=1)[:, None].to(sums.dtype), index.int(), counts.int()]


def avg_voxelize_backward(grad, indices, counts):
    index = indices.long()
    shares = grad / counts.clamp(min=1)[:, None].to(grad.dtype)
    return shares.gather(2, index[:, None].expand(-1, grad.shape[1], -1))


def _corners(coords, resolution):
    """Indices [B, 8, N] of the voxels round points [B, 3, N] and their weights; a corner on the upper side, whose weight is 0, is
    the lower one."""
    low = coords.floor()
    part = coords - low
    index, weights = 0, 1
    for axis, step in enumerate((resolution ** 2, resolution, 1)):
        shape = [1, 1, 1, 1, 1]
        shape[1 + axis] = 2
        upper = torch.arange(2).reshape(shape)
        p, q = (each[:, axis, None, None, None] for each in (part, low))
        weights = weights * torch.where(upper == 1, p, 1 - p)
        index = index + (q.long() + upper * (p > 0)) * step
    return index.flatten(1, 3), weights.flatten(1, 3)


def trilinear_devoxelize_forward(resolution, is_training, coords, features):
    """The features of points [B, C, N], and the indices and weights [B, 8, N] of voxels."""
    coords, features = floats(coords=coords.detach(), features=features.detach())
    index, weights = _corners(coords, resolution)
    b, c, voxels = features.shape
    at = (index + torch.arange(b)[:, None, None] * voxels).transpose(1, 2).reshape(-1, 8)
    made = bags(features.transpose(1, 2).reshape(-1, c), at, weights.transpose(1, 2).reshape(-1, 8))
    return [made.reshape(b, -1, c).transpose(1, 2).contiguous(), index.int(), weights]


def trilinear_devoxelize_backward(grad, indices, weights, resolution):
    shares = (grad[:, :, None] * weights[:, None]).flatten(2)
    at = indices.long().flatten(1)
    return torch.stack([one.new_zeros(one.shape[0], resolution ** 3).index_add(1, i, one) for one, i in zip(shares, at)])
