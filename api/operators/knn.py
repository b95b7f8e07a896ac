"""Knn."""
from api.generate.describe import *

family("Knn", "mmcv's knn.", letters={"k": "k"})

operator("knn", "mluOpExtKnn", 27, doc="""The k nearest of N points for each of M centres.

  d[b,m,n] = (cx - x)^2 + (cy - y)^2 + (cz - z)^2, each operation rounded to float (double for DOUBLE), summed in
             this order
  dist2[b,m,:], idx[b,m,:] = the k least (d, n) in increasing order: of equal distances the lower n first
  A distance that is NaN or not below 1e10 counts for nothing. A neighbour that is missing: idx 0 and dist2 1e10
  (HALF: Inf).

B or M = 0: BAD_PARAM. N = 0: SUCCESS, nothing written. Cost: at most 8*B*M*N flops; the cpu backend looks at the
points nearby only. Source: mmcv's knn.""", args="""
    in xyz T [b, n, 3] -- the points; x, y, z
    in new_xyz T [b, m, 3] py=center_xyz -- the centres
    const int k in 1..INT_MAX
    out idx INT32 [b, m, k]
    out dist2 T like idx -- squared distances
    """,
    order="numbers descs ranks layouts dtypes sizes(new_xyz xyz idx dist2) dense indexable(xyz.1) not_empty(new_xyz) "
          "done_if_empty(xyz) data overlap",
    keys="b n m k",
    say={"b": "the batch", "3": "coordinates of a point", "m": "the centres of new_xyz"})

