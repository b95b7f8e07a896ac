"""Voxelization."""
from api.generate.describe import *

family("Voxelization", "statuses as MLU-OPS 1.11 gives them; mmcv's dynamic_voxelize.", letters={"features": "F"})

shape("mluopsVoxelizationShape",
      "n, features; max_points, max_voxels /**< >= 1, of dynamic voxelization 0 */",
      "features >= 3; what the numbers are is arbitrary.")

SAY = {"n": "the points", "features": "the features of points", "3": "coordinates of a voxel", "voxel_size.3": "x, y, z",
       "6": "least and greatest x, y, z", "1": "one number"}
RULES = {"fixed_order": rule("deterministic", "deterministic: wanted true, got false"),
         "places": rule("features >= 3", "dimension 1 of points: wanted >= 3, got {features}")}

getter("mluOpGetVoxelizationWorkspaceSize", "voxelization",
       "points voxel_size coors_range max_points max_voxels NDim deterministic voxels coors num_points_per_voxel "
       "voxel_num", "size form done_if(max_points == 0 || max_voxels == 0)", "n, 6, sizeof(std::int32_t)",
       "six INT32 for each point", more="max_points or max_voxels 0: SUCCESS, nothing written.", size="size")

operator("voxelization", "mluOpVoxelization", 31, doc="""Sorts points into the voxels of a grid (hard voxelization).

  place of a point on axis a = x, y, z: floor((p[a] - range[a]) / size[a]), each operation rounded to float (double
    for DOUBLE). It is in the grid where 0 <= place < round((range[3 + a] - range[a]) / size[a]) on all axes, and
    place < 2^31.
  The voxels are the places that points of the grid have, in the order of their first points; the first max_voxels
of them count, V in number, and of each the first max_points points: voxels[v,i,:]            = point i of voxel v
  coors[v,:]               = its place, in the order z, y, x
  num_points_per_voxel[v]  = how many it has
  voxel_num[0]             = V
  Everything else of voxels, coors and num_points_per_voxel: zeros.

points empty: BAD_PARAM. max_points or max_voxels 0: SUCCESS, nothing written. Cost: N look-ups and
max_voxels*max_points*F copies. Source: mmcv's hard_voxelize.""", args="""
    in points T any [n, features] -- F >= 3: x, y, z and other features
    in voxel_size T any [3]
    in coors_range T any [6] -- least x, y, z, greatest x, y, z
    const int32_t max_points in 0..INT_MAX
    const int32_t max_voxels in 0..INT_MAX
    const int32_t NDim in 3..3
    const bool deterministic -- true
    workspace
    out voxels T any [max_voxels, max_points, features]
    out coors INT32 any [max_voxels, 3]
    out num_points_per_voxel INT32 any [max_voxels]
    out voxel_num INT32 any [1]
    """,
    order="descs fixed_order numbers ranks(points) dtypes not_empty(points) places ranks sizes dense indexable(points.0) | workspace"
          " done_if(max_points == 0 || max_voxels == 0) data overlap",
    fixed={"NDim": "3", "deterministic": "True"}, smallest={"features": 3},
    keys="n f=features points=max_points voxels=max_voxels", floats="FLOAT",
    notes={'voxels': '[max_voxels,max_points,features]', 'coors': '[max_voxels,3]', 'num_points_per_voxel': '[max_voxels]', 'voxel_num': '[1]'},
    say=SAY, rules=RULES)

operator("dynamic_voxelize", "mluOpExtDynamicVoxelize", 32, doc="""The place of each point in a grid (dynamic voxelization).

  coors[n,:] = the place of point n, as mluOpVoxelization has it, in the order z, y, x; -1 three times where it is
not in the grid

points empty: BAD_PARAM. Cost: 9*N flops. Source: mmcv's dynamic_voxelize.""", args="""
    in points T any [n, features] -- F >= 3
    in voxel_size T any [3]
    in coors_range T any [6]
    out coors INT32 any [n, 3]
    """,
    order="descs ranks(points) dtypes not_empty(points) places ranks sizes dense data overlap",
    smallest={"features": 3}, keys="n f=features", floats="FLOAT",
    fill={"max_points": "0", "max_voxels": "0"},
    notes={'coors': '[n,3]'},
    say=SAY, rules=RULES)

