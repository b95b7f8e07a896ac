"""assign_score_withk."""

from .._buffers import fill, fill_all
from .._integers import index32
from .._tensors import floats
from ..op.assign_score_withk import forward, gradient


def assign_score_withk_forward(points, centers, scores, knn_idx, output, B, N0, N1, M, K, O, aggregate):
    inputs = floats(scores=scores, point_features=points, center_features=centers)
    fill("output", output, forward(*inputs, index32("knn_idx", knn_idx)))


def assign_score_withk_backward(grad_out, points, centers, scores, knn_idx, grad_points, grad_centers, grad_scores, B,
                                N0, N1, M, K, O, aggregate):
    inputs = floats(grad=grad_out, scores=scores, point_features=points, center_features=centers)
    results = gradient(*inputs, index32("knn_idx", knn_idx))
    fill_all(results, grad_scores=grad_scores, grad_points=grad_points, grad_centers=grad_centers)
