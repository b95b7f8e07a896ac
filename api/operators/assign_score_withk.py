"""AssignScoreWithk."""
from api.generate.describe import *

family("AssignScoreWithk", "mmcv's assign_score_withk.")

shape("mluopsAssignScoreWithkShape", "b, n, m, o, p, k",
      "Indices are arbitrary: outside [0,n-1] they count for nothing.")

SAY = {"b": "the batch", "p": "the centres of knn_idx", "k": "the neighbours of knn_idx", "m": "the matrices of points",
       "o": "the channels of points"}

operator("assign_score_withk_forward", "mluOpExtAssignScoreWithkForward", 35, doc="""Weighted sums over the matrices of a weight bank, for each neighbour of each centre (PAConv).

  output[b,o,n,k] = sum over m of scores[b,n,k,m] * (points[b,i,m,o] - centers[b,j,m,o]),
                    i = knn_idx[b,n,k], j = knn_idx[b,n,0];  0 where i or j is outside [0,N-1]

Cost: 3*B*P*K*M*O flops. Source: Xu et al., "PAConv", 2021; mmcv's assign_score_withk, whose aggregate has no
effect.""", args="""
    in points T [b, n, m, o] py=point_features -- the features of each point by each of M matrices
    in centers T like points py=center_features
    in scores T [b, p, k, m]
    in knn_idx INT32 [b, p, k] -- K neighbours of P centres, the first one the centre itself
    out output T [b, o, p, k]
    """,
    order="descs ranks(points centers scores output knn_idx) dtypes sizes(points centers knn_idx scores output) "
          "layouts dense not_empty data overlap",
    keys="b n m o p k",
    say=SAY)

operator("assign_score_withk_backward", "mluOpExtAssignScoreWithkBackward", 36, doc="""Gradient of mluOpExtAssignScoreWithkForward.

  sums over the (n,k) whose i and j are inside, with g = grad_output[b,o,n,k], s = scores[b,n,k,m]:
  grad_points[b,i,m,o] += s * g,  grad_centers[b,j,m,o] -= s * g
  grad_scores[b,n,k,m] = sum over o of (points[b,i,m,o] - centers[b,j,m,o]) * g, 0 where i or j is outside

Dtypes and statuses: those of the forward function. Cost: 6*B*P*K*M*O flops, sums in the same order for every number
of threads.""", args="""
    in grad_output T [b, o, p, k]
    in points T [b, n, m, o] py=point_features
    in centers T like points py=center_features
    in scores T [b, p, k, m]
    in knn_idx INT32 [b, p, k]
    out grad_points T like points
    out grad_centers T like points
    out grad_scores T like scores
    """,
    order="descs ranks(points centers scores grad_output knn_idx) dtypes "
          "sizes(points centers knn_idx scores grad_output grad_points grad_centers grad_scores) layouts dense "
          "not_empty data overlap",
    keys="b n m o p k",
    say=SAY, lead="points")
