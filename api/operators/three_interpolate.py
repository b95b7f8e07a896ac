"""ThreeInterpolate."""
from api.generate.describe import *

family("ThreeInterpolate", "design document; statuses as MLU-OPS 1.11 gives them.")

SAY = {"b": "the batch", "c": "the channels", "3": "neighbours of a point", "n": "the points of indices"}

operator("three_interpolate_forward", "mluOpThreeInterpolateForward", 4, doc="""Interpolates N points from three of M neighbours each.

  output[b,c,n] = sum over j=0..2 of weights[b,n,j] * features[b,c,indices[b,n,j]]
  An index outside [0,M-1] drops that neighbour only.

B, C or N = 0: BAD_PARAM. M = 0: SUCCESS, nothing written. Cost: 6*B*C*N flops. Source: Qi et al., "PointNet++",
2017; three_interpolate design document.""", args="""
    in features T [b, c, m]
    in indices INT32 [b, n, 3]
    in weights T like indices py=weight -- not normalised
    out output T [b, c, n]
    """,
    order="descs ranks layouts dtypes sizes(features indices weights output) dense "
          "not_empty(indices weights output) done_if_empty(features) data overlap",
    keys="b c m n",
    say=SAY, renamed={"weights": "weight"})

operator("three_interpolate_backward", "mluOpThreeInterpolateBackward", 5, doc="""Gradient of mluOpThreeInterpolateForward (scatter-add).

  grad_features[b,c,m] = sum over (n,j) with indices[b,n,j] = m of weights[b,n,j] * grad_output[b,c,n]

B, C, M or N = 0: BAD_PARAM. Cost: 6*B*C*N flops.""", args="""
    in grad_output T [b, c, n]
    in indices INT32 [b, n, 3]
    in weights T like indices py=weight
    out grad_features T [b, c, m]
    """,
    order="descs ranks layouts dtypes sizes(grad_output indices weights grad_features) dense "
          "not_empty(indices weights grad_output grad_features) data overlap",
    keys="b c m n",
    say=SAY, bind={"n": "indices"}, renamed={"weights": "weight"}, takes="grad_output indices weight points(m)")

operator("three_interpolate_backward_weight", "mluOpExtThreeInterpolateBackwardWeight", 110, doc="""Gradient of the weights of mluOpThreeInterpolateForward.

  grad_weights[b,n,j] = sum over c of grad_output[b,c,n] * features[b,c,indices[b,n,j]]
  0 where the index is outside [0,M-1].

B, C, M or N = 0: BAD_PARAM. Sums in float32, double's in double. Cost: 6*B*C*N flops.""", args="""
    in grad_output T [b, c, n]
    in features T [b, c, m]
    in indices INT32 [b, n, 3]
    out grad_weights T like indices py=grad_weight
    """,
    order="descs ranks layouts dtypes sizes(grad_output features indices grad_weights) dense "
          "not_empty(features indices grad_weights grad_output) data overlap",
    keys="b c m n",
    say={"b": "the batch", "c": "the channels", "3": "neighbours of a point", "n": "the points of grad_output"})
