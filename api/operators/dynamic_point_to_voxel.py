"""DynamicPointToVoxel."""
from api.generate.describe import *

family("DynamicPointToVoxel", "statuses as MLU-OPS 1.11 gives them.")

shape("mluopsDynamicPointToVoxelShape", "n, c, m /* m <= n */; mluOpReduceMode_t reduce")

getter("mluOpGetDynamicPointToVoxelForwardWorkspaceSize", "dynamic_point_to_voxel_forward", "feats coors",
       "handle descs(feats coors) size ranks(feats coors) countable(coors)",
       "size_of(coors, 0), 3, sizeof(std::int32_t)", "three INT32 for each point, to sort them")

SAY = {"n": "the points", "m": "the rows of voxel_feats", "c": "the channels of feats", "3": "coordinates of a voxel",
       "1": "one number"}
KEYS = 'n c m reduce={p.shape.reduce == MLUOP_REDUCE_DMAX ? "max" : p.shape.reduce == MLUOP_REDUCE_DMEAN ? "mean" : "sum"}'
KNOWN = rule("reduce_type == MLUOP_REDUCE_DSUM || reduce_type == MLUOP_REDUCE_DMEAN || reduce_type == MLUOP_REDUCE_DMAX",
             "reduce_type: wanted MLUOP_REDUCE_DMAX, _DMEAN or _DSUM, got {reduce_type}")

operator("dynamic_point_to_voxel_forward", "mluOpDynamicPointToVoxelForward", 29, doc="""Reduces the features of the points of each voxel.

  The voxels are the different rows of coors without a negative number, in increasing order (first number first);
  V of them.
  voxel_coors[v,:]       = voxel v
  voxel_points_count[v]  = number of points with coors[n,:] = voxel_coors[v,:]
  point2voxel_map[n]     = v, or -1 where coors[n,:] has a negative number
  voxel_feats[v,c]       = sum, mean or maximum of feats[n,c] over the points of v; a maximum passes over NaN, and
is -Inf where there is nothing else voxel_num[0]           = V Rows v >= V of voxel_feats, voxel_coors and
voxel_points_count: zeros.

feats empty: SUCCESS, nothing written. Cost: N*C additions and sorting N points. Source: mmcv's dynamic_scatter.""", args="""
    const mluOpReduceMode_t reduce_type:reduce -- MLUOP_REDUCE_DMAX or _DMEAN; EXTENDED also _DSUM
    in feats T any [n, c]
    in coors INT32 any [n, 3] as void* -- left alone, though not const: a device marks points without voxel in it
    workspace void* workspace, const size_t workspace_size
    out voxel_feats T any [m, c] -- 1 <= M <= N. More voxels than M: NOT_SUPPORTED, nothing written.
    out voxel_coors INT32 any [m, 3]
    out point2voxel_map INT32 any [n]
    out voxel_points_count INT32 any [m]
    out voxel_num INT32 any [1]
    """,
    order="descs ranks dtypes reduce known "
          "sizes(feats coors voxel_feats voxel_coors point2voxel_map voxel_points_count voxel_num) rows dense "
          "indexable(feats.0) done_if_empty(feats) workspace data overlap",
    keys=KEYS,
    notes={'voxel_coors': '[m,3]', 'point2voxel_map': '[n]', 'voxel_points_count': '[m]', 'voxel_num': '[1]'},
    say=SAY, floats="FLOAT", handle="const mluOpHandle_t handle",
    rules={"known": KNOWN,
           "reduce": rule("reduce_type == MLUOP_REDUCE_DMAX || reduce_type == MLUOP_REDUCE_DMEAN",
                          "reduce_type: wanted MLUOP_REDUCE_DMAX or _DMEAN, got {reduce_type}", strict=True),
           "rows": rule("m >= (n > 0 ? 1 : 0) && m <= n",
                        "dimension 0 of voxel_feats: wanted >= {n > 0 ? 1 : 0} and <= {n}, got {m}")},
    smallest={"reduce_type": 2})

getter("mluOpGetDynamicPointToVoxelBackwardWorkspaceSize", "dynamic_point_to_voxel_backward",
       "reduce_type grad_voxel_feats feats voxel_feats point2voxel_map voxel_points_count voxel_num",
       "handle descs(grad_voxel_feats feats voxel_feats point2voxel_map voxel_points_count voxel_num) size "
       "ranks(voxel_feats) countable(voxel_feats)", "voxel_feats.desc->elements, sizeof(std::int32_t)",
       "an INT32 for each number of voxel_feats", handle="const mluOpHandle_t handle")

operator("dynamic_point_to_voxel_backward", "mluOpDynamicPointToVoxelBackward", 30, doc="""Gradient of mluOpDynamicPointToVoxelForward.

  v = point2voxel_map[n]; a point whose v is not in [0, min(M, voxel_num[0]) - 1] gets zeros
  sum:  grad_feats[n,c] = grad_voxel_feats[v,c]
  mean: grad_feats[n,c] = grad_voxel_feats[v,c] / voxel_points_count[v]
  max:  grad_feats[n,c] = grad_voxel_feats[v,c] where n is the first point of v with feats[n,c] = voxel_feats[v,c],
        else 0

grad_feats empty: SUCCESS, nothing written. Cost: N*C copies or comparisons.""", args="""
    const mluOpReduceMode_t reduce_type:reduce -- MLUOP_REDUCE_DMAX; EXTENDED also _DMEAN and _DSUM
    in grad_voxel_feats T any [m, c] -- M <= N
    in feats T any [n, c]
    in voxel_feats T like grad_voxel_feats -- as the forward function gave it
    in point2voxel_map INT32 any [n] -- likewise
    in voxel_points_count INT32 any [m] -- likewise
    in voxel_num INT32 any [1] -- likewise
    workspace void* workspace, const size_t workspace_size
    out grad_feats T like feats
    """,
    order="descs ranks dtypes "
          "sizes(feats grad_voxel_feats voxel_feats point2voxel_map voxel_points_count voxel_num grad_feats) rows "
          "reduce known dense indexable(feats.0) done_if_empty(grad_feats) "
          "data(grad_voxel_feats: grad_voxel_feats voxel_feats voxel_points_count) "
          "data(feats point2voxel_map voxel_num grad_feats) workspace overlap",
    keys=KEYS,
    problem_doc="""Numbers of point2voxel_map, voxel_points_count and voxel_num are arbitrary.""",
    notes={'grad_voxel_feats': '[m,c]', 'point2voxel_map': '[n]', 'voxel_points_count': '[m]', 'voxel_num': '[1]', 'grad_feats': '[n,c]'},
    say={**SAY, "m": "the voxels"}, floats="FLOAT", handle="const mluOpHandle_t handle",
    rules={"known": KNOWN,
           "reduce": rule("reduce_type == MLUOP_REDUCE_DMAX", "reduce_type: wanted MLUOP_REDUCE_DMAX, got {reduce_type}",
                          strict=True),
           "rows": rule("m <= n", "dimension 0 of grad_voxel_feats: wanted >= 0 and <= {n}, got {m}")},
    smallest={"reduce_type": 2})
