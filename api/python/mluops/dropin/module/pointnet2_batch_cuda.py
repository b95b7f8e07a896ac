"""pointnet2_batch_cuda of OpenPCDet and its descendants, and pointnet2_cuda of PointRCNN's."""

from ...torch.filling.ball_query import ball_query_forward
from ...torch.filling.furthest_point_sample import furthest_point_sampling_forward
from ...torch.filling.gather_points import (gather_points_backward, gather_points_forward, group_points_backward,
                                      group_points_forward)
from ...torch.filling.three_interpolate import three_interpolate_backward, three_interpolate_forward
from ...torch.filling.three_nn import three_nn_forward

__all__ = ["ball_query_wrapper", "farthest_point_sampling_wrapper", "furthest_point_sampling_wrapper",
           "gather_points_grad_wrapper", "gather_points_wrapper", "group_points_grad_wrapper", "group_points_wrapper",
           "three_interpolate_grad_wrapper", "three_interpolate_wrapper", "three_nn_wrapper"]

PACKAGE = "pcdet"
NAMES = ("pointnet2_batch_cuda", "*.pointnet2_batch_cuda", "pointnet2_cuda", "*.pointnet2_cuda")


def ball_query_wrapper(b, n, m, radius, nsample, new_xyz, xyz, idx):
    ball_query_forward(new_xyz, xyz, idx, b, n, m, 0.0, radius, nsample)
    return 1


def group_points_wrapper(b, c, n, npoints, nsample, points, idx, out):
    group_points_forward(points, idx, out, b, c, n, npoints, nsample)
    return 1


def group_points_grad_wrapper(b, c, n, npoints, nsample, grad_out, idx, grad_points):
    group_points_backward(grad_out, idx, grad_points, b, c, n, npoints, nsample)
    return 1


def gather_points_wrapper(b, c, n, npoints, points, idx, out):
    gather_points_forward(points, idx, out, b, c, n, npoints)
    return 1


def gather_points_grad_wrapper(b, c, n, npoints, grad_out, idx, grad_points):
    gather_points_backward(grad_out, idx, grad_points, b, c, n, npoints)
    return 1


def farthest_point_sampling_wrapper(b, n, m, points, temp, idx):
    furthest_point_sampling_forward(points, temp, idx, b, n, m)
    return 1


furthest_point_sampling_wrapper = farthest_point_sampling_wrapper


def three_nn_wrapper(b, n, m, unknown, known, dist2, idx):
    three_nn_forward(unknown, known, dist2, idx, b, n, m)


def three_interpolate_wrapper(b, c, m, n, points, idx, weight, out):
    three_interpolate_forward(points, idx, weight, out, b, c, m, n)


def three_interpolate_grad_wrapper(b, c, n, m, grad_out, idx, weight, grad_points):
    three_interpolate_backward(grad_out, idx, weight, grad_points, b, c, n, m)
