"""pointnet2_stack_cuda of OpenPCDet: operators on clouds of points one behind the other."""

import torch

from ...torch._buffers import fill, fill_all, room
from ...torch.filling.ball_query import stack_ball_query_forward
from ...torch.filling.gather_points import stack_group_points_backward, stack_group_points_forward
from ...torch._stacks import pairs_of_samples
from ...torch._integers import int32
from ...torch._tensors import floats
from ...torch.op.three_nn import stacked as _three_nn
from .. import _stacked, _vector_pool
from .._vector_pool import *  # noqa: F403
from .pointnet2_batch_cuda import farthest_point_sampling_wrapper, furthest_point_sampling_wrapper

__all__ = ["ball_query_wrapper", "farthest_point_sampling_wrapper", "furthest_point_sampling_wrapper",
           "group_points_grad_wrapper", "group_points_wrapper", "stack_farthest_point_sampling_wrapper", "three_interpolate_grad_wrapper", "three_interpolate_wrapper",
           "three_nn_wrapper", "voxel_query_wrapper", *_vector_pool.__all__]

PACKAGE = "pcdet"
NAMES = ("pointnet2_stack_cuda", "*.pointnet2_stack_cuda")


def ball_query_wrapper(b, m, radius, nsample, new_xyz, new_xyz_batch_cnt, xyz, xyz_batch_cnt, idx):
    """Indices count from the first point of the cloud; -1 in front where the ball is empty."""
    stack_ball_query_forward(new_xyz, new_xyz_batch_cnt, xyz, xyz_batch_cnt, idx, radius, nsample)
    return 1


def group_points_wrapper(b, m, c, nsample, features, features_batch_cnt, idx, idx_batch_cnt, out):
    stack_group_points_forward(features, features_batch_cnt, idx, idx_batch_cnt, out, b, c, m, nsample)
    return 1


def group_points_grad_wrapper(b, m, c, n, nsample, grad_out, idx, idx_batch_cnt, features_batch_cnt, grad_features):
    stack_group_points_backward(grad_out, idx, idx_batch_cnt, features_batch_cnt, grad_features, b, c, m, n, nsample)
    return 1


def stack_farthest_point_sampling_wrapper(xyz, temp, xyz_batch_cnt, idx, num_sampled_points):
    """Indices count from the first point of all."""
    idx = room("idx", idx, [int(num_sampled_points.sum())], torch.int32)
    clouds = pairs_of_samples(("num_sampled_points", num_sampled_points, len(idx)),
                              ("xyz_batch_cnt", xyz_batch_cnt, len(xyz)))
    for rows, found in _stacked.furthest(xyz, iter(clouds)):
        idx[rows].copy_(found)
    return 1


def three_nn_wrapper(unknown, unknown_batch_cnt, known, known_batch_cnt, dist2, idx):
    """Indices count from the first known point of all."""
    squares, indices = _three_nn(*floats(unknown=unknown, known=known), int32("unknown_batch_cnt", unknown_batch_cnt),
                                 int32("known_batch_cnt", known_batch_cnt))
    fill_all((squares, indices), dist2=dist2, idx=idx)


def three_interpolate_wrapper(features, idx, weight, out):
    fill("out", out, _stacked.weighted_rows(features, idx, weight))


def three_interpolate_grad_wrapper(grad_out, idx, weight, grad_features):
    _stacked.add_weighted_rows("grad_features", grad_features, grad_out, idx, weight)


def _steps(z_range, y_range, x_range):
    """The voxels round one, x fastest: int64 [K, 3]."""
    return torch.cartesian_prod(*(torch.arange(-reach, reach + 1) for reach in (z_range, y_range, x_range)))


def _neighbours(voxels, steps, point_indices):
    """The points in the voxels round others, -1 where there is none: int32 [M, K]."""
    sizes = torch.tensor(point_indices.shape[1:])
    places = voxels[:, None, 1:].long() + steps
    inside = ((places >= 0) & (places < sizes)).all(2)
    z, y, x = torch.where(inside[..., None], places, torch.zeros_like(places)).unbind(2)
    found = point_indices[voxels[:, :1].long(), z, y, x]
    return torch.where(inside, found, torch.full_like(found, -1))


def voxel_query_wrapper(m, r1, r2, r3, nsample, radius, z_range, y_range, x_range, new_xyz, xyz, new_coords,
                        point_indices, idx):
    """The first points in the ball, of those in the voxels round a centre's; -1 in front where there is none."""
    idx, steps = room("idx", idx, (m, nsample), torch.int32), _steps(z_range, y_range, x_range)
    for rows in _stacked.blocks(m, 3 * len(steps)):
        found = _neighbours(new_coords[rows], steps, point_indices)
        squares = ((xyz[found.clamp(min=0).long()] - new_xyz[rows][:, None]) ** 2).sum(2)
        row, column = _stacked.first_of_each_row((found >= 0) & (squares <= float(radius) ** 2), nsample)
        place, points = _stacked.place_in_row(row, len(found)), found[row, column]
        result = idx[rows]
        empty = torch.ones(len(result), dtype=torch.bool).index_fill(0, row, False)
        result[empty, 0] = -1
        at_first = place == 0
        result[row[at_first]] = points[at_first][:, None].to(result.dtype)
        result[row, place] = points.to(result.dtype)
