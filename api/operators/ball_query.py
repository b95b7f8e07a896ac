"""BallQuery."""
from api.generate.describe import *

family("BallQuery", "statuses as MLU-OPS 1.11 gives them.")

SAY = {"b": "the batch", "3": "coordinates of a point", "m": "the centres of new_xyz"}

operator("ball_query", "mluOpBallQuery", 16, doc="""The first nsample points, in the order of their index, in the ball round each centre.

  d[b,m,n] = (cx - x)^2 + (cy - y)^2 + (cz - z)^2, each operation rounded to float (double for DOUBLE), summed in
this order n is in the ball of m if d = 0, or min_radius^2 <= d < max_radius^2 (the squares in float) idx[b,m,:] =
the nsample lowest such n in increasing order; fewer: filled up with the first of them; none: zeros

B or M = 0: BAD_PARAM. N or nsample = 0: SUCCESS, nothing written. Cost: at most 8*B*M*N flops. The device leaves
the row of an empty ball as it was: initialise idx to zeros to get the same there. Source: Qi et al., "PointNet++",
2017; mmcv's ball_query.""", args="""
    in new_xyz T [b, m, 3] py=center_xyz -- the centres; x, y, z
    in xyz T [b, n, 3] -- the points
    const float min_radius >= 0 exact
    const float max_radius >= 0 exact
    const int nsample >= 0 py=sample_num
    out idx INT32 [b, m, nsample]
    """,
    order="numbers descs ranks layouts dtypes sizes(new_xyz xyz idx) dense indexable(xyz.1) not_empty(new_xyz) "
          "done_if_empty(xyz idx) data overlap",
    keys="b m n s=nsample min=min_radius max=max_radius",
    say=SAY)
