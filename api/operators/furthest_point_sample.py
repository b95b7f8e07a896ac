"""FurthestPointSample."""
from api.generate.describe import *

family("FurthestPointSample", "mmcv's furthest_point_sample.")

shape("mluopsFurthestPointSampleShape", "b, n, m", "points [b,n,3] or distances [b,n,n], idx [b,m].")

SAY = {"b": "the batch", "3": "coordinates of a point", "n": "one distance to each point"}

operator("furthest_point_sample", "mluOpExtFurthestPointSample", 17, doc="""Picks M of N points, each the furthest from those picked before it.

  idx[b,0] = 0; t[n] = 1e10
  for j = 1..M-1: t[n] = min(t[n], d(n, idx[b,j-1])); idx[b,j] = the n with the greatest t[n]
  d(n,k) = (xn - xk)^2 + (yn - yk)^2 + (zn - zk)^2, each operation rounded to float (double for DOUBLE), summed in
  this order; a d that is NaN leaves t alone.
  Of equal t the n comes first whose n mod T is least with its bits in reverse, then the lowest n; T is the greatest
  power of 2 up to min(N, 1024): the order of mmcv's reduction. More points than there are (M > N) repeat.

idx empty: SUCCESS, nothing to do. N = 0 otherwise: BAD_PARAM. Cost: 9*B*N*M flops as written down; the cpu backend
skips points far from the new one. Source: Qi et al., "PointNet++", 2017; mmcv's furthest_point_sample.""", args="""
    in points T [b, n, 3] py=points_xyz -- x, y, z
    out idx INT32 [b, m]
    """,
    order="descs ranks layouts dtypes sizes dense indexable(points.1) done_if_empty(idx) not_empty(points) data "
          "overlap",
    keys="b n m",
    say=SAY)

operator("furthest_point_sample_with_dist", "mluOpExtFurthestPointSampleWithDist", 18, doc="""As mluOpExtFurthestPointSample, with distances given: d(n,k) = distances[b,k,n].

Dtypes and statuses: those of mluOpExtFurthestPointSample. Cost: B*N*M comparisons.
Source: Yang et al., "3DSSD", 2020; mmcv's furthest_point_sample_with_dist.""", args="""
    in distances T [b, n, n] py=points_dist -- need not be symmetric. Where no t[n] is above -1, the point is 0.
    out idx INT32 [b, m]
    """,
    order="descs ranks layouts dtypes sizes dense indexable(distances.1) done_if_empty(idx) not_empty(distances) "
          "data overlap",
    keys="b n m",
    say=SAY)
