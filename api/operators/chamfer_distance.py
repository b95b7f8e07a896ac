"""ChamferDistance."""
from api.generate.describe import *

family("ChamferDistance", "mmcv's chamfer_distance.")

SAY = {"b": "the batch", "n": "the points", "m": "the points", "2": "x, y"}

operator("chamfer_distance_forward", "mluOpExtChamferDistanceForward", 37, doc="""For each point of two sets in the plane the nearest point of the other set.

  d[b,n,m] = (x1 - x2)^2 + (y1 - y2)^2, each operation rounded to float (double for DOUBLE)
  dist1[b,n], idx1[b,n] = the least (d, m): of equal distances the lower m;  dist2[b,m], idx2[b,m] = the least (d,
n) A distance that is NaN or not below 1e10 counts for nothing; without any: 1e10 (HALF: Inf) and 0.

B, N or M = 0: BAD_PARAM. Cost: at most 10*B*N*M flops; the cpu backend looks at the points nearby only. Source:
mmcv's chamfer_distance, of Li et al., "Oriented RepPoints", 2022.""", args="""
    in xyz1 T [b, n, 2] -- x, y
    in xyz2 T [b, m, 2]
    out dist1 T [b, n] -- squared distances
    out dist2 T [b, m]
    out idx1 INT32 [b, n]
    out idx2 INT32 [b, m]
    """,
    order="descs ranks sizes(xyz1 xyz2 dist1 idx1 dist2 idx2) floats(xyz2) dtypes layouts dense not_empty data "
          "indexable(xyz1.1 xyz2.1) overlap",
    keys="b n m",
    say=SAY)

operator("chamfer_distance_backward", "mluOpExtChamferDistanceBackward", 38, doc="""Gradient of mluOpExtChamferDistanceForward, where the indices are constants.

  every n with m = idx1[b,n]: g = 2 * grad_dist1[b,n] * (xyz1[b,n,:] - xyz2[b,m,:]) is added to grad_xyz1[b,n,:] and
  subtracted from grad_xyz2[b,m,:];  every m with n = idx2[b,m] likewise, the other way round

Dtypes and statuses: those of the forward function. Cost: 8*B*(N+M) additions, in the same order for every number of
threads.""", args="""
    in xyz1 T [b, n, 2]
    in xyz2 T [b, m, 2]
    in idx1 INT32 [b, n] -- outside the other set: adds nothing
    in idx2 INT32 [b, m] -- likewise
    in grad_dist1 T [b, n]
    in grad_dist2 T [b, m]
    out grad_xyz1 T like xyz1
    out grad_xyz2 T like xyz2
    """,
    order="descs ranks(-grad_xyz1 -grad_xyz2) sizes(xyz1 xyz2 grad_dist1 idx1 grad_dist2 idx2 grad_xyz1 grad_xyz2) "
          "floats(xyz2) dtypes layouts dense not_empty data indexable(xyz1.1 xyz2.1) overlap",
    keys="b n m",
    problem_doc="""Indices are arbitrary: outside the other set they add nothing.""",
    say=SAY)
