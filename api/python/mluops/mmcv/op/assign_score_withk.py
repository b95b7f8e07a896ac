"""assign_score_withk."""

from ...torch._integers import index32
from ...torch._tensors import floats
from ...torch.op.assign_score_withk import forward, gradient


def assign_score_withk_forward(points, centers, scores, knn_idx, output, B, N0, N1, M, K, O, aggregate):
    inputs = floats(scores=scores, point_features=points, center_features=centers)
    output.copy_(forward(*inputs, index32("knn_idx", knn_idx)))


def assign_score_withk_backward(grad_out, points, centers, scores, knn_idx, grad_points, grad_centers, grad_scores, B,
                                N0, N1, M, K, O, aggregate):
    inputs = floats(grad=grad_out, scores=scores, point_features=points, center_features=centers)
    results = gradient(*inputs, index32("knn_idx", knn_idx))
    for theirs, ours in zip((grad_scores, grad_points, grad_centers), results):
        theirs.copy_(ours)


ENTRY_POINTS = (assign_score_withk_forward, assign_score_withk_backward)
