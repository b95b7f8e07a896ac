"""ThreeNN."""
from api.generate.describe import *

family("ThreeNN", "statuses as MLU-OPS 1.11 gives them.")

getter("mluOpGetThreeNNForwardWorkspaceSize", "three_nn_forward", "known",
       "handle descs(known) size ranks(known) countable(known)", "known.desc->elements, element_bytes(known)",
       "those of known, for a transposed copy", handle="const mluOpHandle_t handle")

SAY = {"b": "the batch", "3": "coordinates of a point"}

operator("three_nn_forward", "mluOpThreeNNForward", 15, doc="""The three nearest of M known points for each of N unknown ones.

  d[b,n,m] = (ux - kx)^2 + (uy - ky)^2 + (uz - kz)^2, each operation rounded to float (double for DOUBLE), summed in
             this order
  dist2[b,n,:], idx[b,n,:] = the three least (d, m) in increasing order: of equal distances the lower m first
  A distance that is NaN or not below 1e40 counts for nothing. A neighbour that is missing: idx 0 and dist2 1e40,
  which is Inf in all dtypes but DOUBLE.

B or N = 0: BAD_PARAM. M = 0: SUCCESS, nothing written. Cost: 8*B*N*M flops as written down; the cpu backend looks
at the points nearby only. Source: Qi et al., "PointNet++", 2017; mmcv's three_nn.""", args="""
    in unknown T [b, n, 3] py=target -- x, y, z
    in known T [b, m, 3] py=source
    workspace void* workspace, const size_t workspace_size
    out dist2 T like unknown -- squared distances
    out idx INT32 like unknown
    """,
    order="descs ranks layouts dtypes sizes(unknown known dist2 idx) dense indexable(known.1) not_empty(unknown) "
          "done_if_empty(known) workspace data overlap",
    shape="mluopsThreeNNShape", keys="b n m", problem="mluopsThreeNNForwardProblem",
    say=SAY, handle="const mluOpHandle_t handle")
