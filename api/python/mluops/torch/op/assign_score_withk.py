"""assign_score_withk: weighted sums over the matrices of a weight bank, for each neighbour of each centre."""

import torch
from torch import Tensor

from ..._functions.assign_score_withk import (ASSIGN_SCORE_WITHK_BACKWARD as BACKWARD, ASSIGN_SCORE_WITHK_FORWARD as
                                              FORWARD)
from .._blocks import bad_param, described, floats, index32

__all__ = ["assign_score_withk"]


def _jvp(inputs, output, tangents):
    """Linear in scores, and in the features of points and centres together."""
    scores, points, centers, knn_idx = inputs
    along, of_points, of_centers, _ = tangents
    result = 0 if along is None else forward(along, points, centers, knn_idx)
    if of_points is not None or of_centers is not None:
        features = (torch.zeros_like(points) if each is None else each for each in (of_points, of_centers))
        result = result + forward(scores, *features, knn_idx)
    return result


gradient = described("assign_score_withk_backward(grad, scores, point_features, center_features, knn_idx)", BACKWARD,
                     results="grad_scores grad_points grad_centers")
forward = described("assign_score_withk(scores, point_features, center_features, knn_idx)", FORWARD, gradient=gradient,
                    jvp=_jvp)


def assign_score_withk(scores: Tensor, point_features: Tensor, center_features: Tensor, knn_idx: Tensor,
                       aggregate: str = "sum") -> Tensor:
    """Weighted sums over the matrices of a weight bank, for each neighbour of each centre.

    Args:
        scores: T [B, P, K, M].
        point_features: T [B, N, M, O], the features of each point by each of M matrices.
        center_features: T [B, N, M, O].
        knn_idx: int32 or int64 [B, P, K], K neighbours of P centres, the first one the centre itself; one outside
            [0, N-1] gives zeros, for the first one all K.
        aggregate: "sum", "avg" or "max"; without effect, as in mmcv.
    Returns: T [B, O, P, K], differentiable in scores and features.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted.
    Source: Xu et al., "PAConv", 2021; mmcv's assign_score_withk.
    """
    if aggregate not in ("sum", "avg", "max"):
        raise bad_param("aggregate", "sum, avg or max", aggregate)
    return forward(*floats(scores=scores, point_features=point_features, center_features=center_features),
                   index32("knn_idx", knn_idx, point_features.shape[1]))
