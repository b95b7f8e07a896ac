"""The extensions of mmdet3d before 1.0, and of what was built on it, for points: ball_query_ext, knn_ext and others."""

from ...torch.filling.assign_score_withk import assign_score_withk_backward, assign_score_withk_forward
from ...torch.filling.ball_query import ball_query_forward
from ...torch.filling.furthest_point_sample import (furthest_point_sampling_forward,
                                              furthest_point_sampling_with_dist_forward)
from ...torch.filling.knn import knn_forward
from .pointnet2_batch_cuda import (gather_points_grad_wrapper, gather_points_wrapper, three_interpolate_grad_wrapper,
                                   three_interpolate_wrapper, three_nn_wrapper)

__all__ = ["assign_score_withk_backward_wrapper", "assign_score_withk_forward_wrapper", "ball_query_wrapper",
           "furthest_point_sampling_with_dist_wrapper", "furthest_point_sampling_wrapper", "gather_points_grad_wrapper",
           "gather_points_wrapper", "knn_wrapper", "three_interpolate_grad_wrapper", "three_interpolate_wrapper",
           "three_nn_wrapper"]

PACKAGE = "mmdet3d"
UNSERVED = ("*.feature_decorator_ext", "dynamic_point_pool_ext")
NAMES = tuple(f"*.{name}_ext" for name in ("assign_score_withk", "ball_query", "furthest_point_sample", "gather_points",
                                           "interpolate", "knn"))


def ball_query_wrapper(b, n, npoint, min_radius, max_radius, sample_num, center_xyz, xyz, idx):
    ball_query_forward(center_xyz, xyz, idx, b, n, npoint, min_radius, max_radius, sample_num)


def furthest_point_sampling_wrapper(b, n, num_points, points_xyz, temp, output):
    furthest_point_sampling_forward(points_xyz, temp, output, b, n, num_points)


def furthest_point_sampling_with_dist_wrapper(b, n, num_points, points_dist, temp, output):
    furthest_point_sampling_with_dist_forward(points_dist, temp, output, b, n, num_points)


def knn_wrapper(b, n, npoint, k, xyz, center_xyz, idx, dist2):
    knn_forward(xyz, center_xyz, idx, dist2, b, n, npoint, k)


def assign_score_withk_forward_wrapper(b, n0, n1, m, k, o, aggregate, points, centers, scores, knn_idx, output):
    assign_score_withk_forward(points, centers, scores, knn_idx, output, b, n0, n1, m, k, o, aggregate)


def assign_score_withk_backward_wrapper(b, n0, n1, m, k, o, aggregate, grad_out, points, centers, scores, knn_idx,
                                        grad_points, grad_centers, grad_scores):
    assign_score_withk_backward(grad_out, points, centers, scores, knn_idx, grad_points, grad_centers, grad_scores, b, n0,
                                n1, m, k, o, aggregate)
