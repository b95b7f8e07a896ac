"""GatherPoints and GroupPoints."""
from api.generate.describe import *

family("GatherPoints and GroupPoints", "mmcv's gather_points and grouping_operation.", letters={"k": "S"})

shape("mluopsGatherPointsShape", "b, c, n, m",
      "The m of GroupPoints are all samples of all groups. Indices are arbitrary: outside [0,n-1] they read "
      "0 and add to nothing.")

SAY = {"b": "the batch", "c": "the channels", "m": "as in idx", "p": "as in idx", "k": "as in idx"}

operator("gather_points_forward", "mluOpExtGatherPoints", 19, doc="""Takes the features of M of N points.

  output[b,c,m] = points[b,c,idx[b,m]], and 0 where idx[b,m] is outside [0,N-1]

output empty: SUCCESS, nothing to do. N = 0 otherwise: BAD_PARAM. Cost: B*C*M copies. Source: Qi et al.,
"PointNet++", 2017; mmcv's gather_points.""", args="""
    in points T [b, c, n]
    in idx INT32 [b, m]
    out output T [b, c, m]
    """,
    order="descs ranks layouts dtypes sizes(points idx output) dense done_if_empty(output) not_empty(points) data "
          "overlap",
    keys="b c n m",
    say=SAY)

operator("gather_points_backward", "mluOpExtGatherPointsBackward", 20, doc="""Gradient of mluOpExtGatherPoints (scatter-add).

  grad_points[b,c,n] = sum over m with idx[b,m] = n of grad_output[b,c,m]

grad_points empty: SUCCESS, nothing to do. M = 0 otherwise: BAD_PARAM. Cost: B*C*M additions.""", args="""
    in grad_output T [b, c, m]
    in idx INT32 [b, m] -- outside [0,N-1]: adds to nothing
    out grad_points T [b, c, n]
    """,
    order="descs ranks layouts dtypes sizes(grad_points idx grad_output) dense done_if_empty(grad_points) "
          "not_empty(grad_output) data overlap",
    keys="b c n m",
    say=SAY)

operator("gather_points_forward", "mluOpExtGroupPoints", 19, doc="""Takes the features of the points of each group: mluOpExtGatherPoints with M = P*S.

  output[b,c,p,s] = points[b,c,idx[b,p,s]], and 0 where idx[b,p,s] is outside [0,N-1]

Dtypes, statuses and cost: those of mluOpExtGatherPoints.
Source: Qi et al., "PointNet++", 2017; mmcv's grouping_operation.""", args="""
    in points T [b, c, n]
    in idx INT32 [b, p, k] -- S points of P groups, for instance from mluOpBallQuery
    out output T [b, c, p, k]
    """,
    order="descs ranks layouts dtypes sizes(points idx output) dense done_if_empty(output) not_empty(points) data "
          "overlap",
    keys="b c n m",
    say=SAY, check="group_points_forward", fill={"m": "p * k"})

operator("gather_points_backward", "mluOpExtGroupPointsBackward", 20, doc="""Gradient of mluOpExtGroupPoints (scatter-add).

  grad_points[b,c,n] = sum over (p,s) with idx[b,p,s] = n of grad_output[b,c,p,s]

Dtypes, statuses and cost: those of mluOpExtGatherPointsBackward.""", args="""
    in grad_output T [b, c, p, k]
    in idx INT32 [b, p, k] -- outside [0,N-1]: adds to nothing
    out grad_points T [b, c, n]
    """,
    order="descs ranks layouts dtypes sizes(grad_points idx grad_output) dense done_if_empty(grad_points) "
          "not_empty(grad_output) data overlap",
    keys="b c n m",
    say=SAY, check="group_points_backward", fill={"m": "p * k"})
