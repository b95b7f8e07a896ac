"""RoiAwarePool3d."""
from api.generate.describe import *

family("RoiAwarePool3d", "statuses as MLU-OPS 1.11 gives them.",
       letters={"pts_num": "P", "max_pts_each_voxel": "S", "points": "P"})

SHAPE = shape("mluopsRoiAwarePool3dShape",
              "n, points, c, most; x, y, z /**< at most 256 */; int32_t mean /**< 0: maximum, 1: mean */",
              "RoiAwarePool3d: rois [n,7], pts [points,3], features [points,c], outputs [n,x,y,z,...], `most` "
              "numbers a voxel in pts_idx_of_voxels: a count and up to most - 1 indices.")

getter("mluOpGetRoiAwarePool3dForwardWorkspaceSize", "roiaware_pool3d_forward", "rois pts pts_feature",
       "handle descs(rois pts pts_feature) size ranks(rois) countable(rois) ranks(pts) countable(pts) "
       "ranks(pts_feature) countable(pts_feature)", """
    size_of(rois, 0), size_of(pts, 0), sizeof(std::int32_t)
    pts.desc->elements, element_bytes(pts)
    pts_feature.desc->elements, element_bytes(pts)
    """, "an INT32 for each pair of a box and a point, and a transposed copy of pts and pts_feature")

SAY = {"7": "numbers of a box", "3": "coordinates of a point"}

operator("roiaware_pool3d_forward", "mluOpRoiAwarePool3dForward", 39, doc="""Pools the features of the points in each upright box, voxel by voxel of the box.

  a point is in a box by the rule of mluOpExtPointsInBoxesPart (z of a box is the centre of its bottom); there, with
  lx, ly in the box's frame, its voxel is
  vx = (lx + dx / 2) / (dx / out_x), vy likewise, vz = (z - bz) / (dz / out_z), cut to whole numbers in
  [0, out - 1], NaN to 0; each operation rounded to float (double for DOUBLE)
  pts_idx_of_voxels[n,vx,vy,vz,:] = count, then the count lowest indices of its points, at most
  max_pts_each_voxel - 1; zeros behind
  pool_method 0: pooled_features = the maximum over these points, argmax = its point, of equal ones the first;
  0 and -1 where there is none that is greater than -Inf
  pool_method 1: pooled_features = the mean, 0 where there is no point; argmax = 0

Cost: 12*N*P flops, and an addition or comparison for each feature of each point kept. Source: Shi et al.,
"Part-A2", 2020; mmcv's roiaware_pool3d.""", args="""
    const int pool_method:mean in 0..1 named max avg -- the maximum (0) or the mean (1)
    const int boxes_num:n
    const int pts_num:points
    const int channels:c
    in rois T any [boxes_num, 7] -- x, y, z, dx, dy, dz, rotation about z
    in pts T any [pts_num, 3]
    in pts_feature T any [pts_num, channels]
    workspace
    const int max_pts_each_voxel:most in 1..INT_MAX py=max_pts_per_voxel
    const int out_x:x in 1..256
    const int out_y:y in 1..256
    const int out_z:z in 1..256
    out argmax INT32 any [boxes_num, out_x, out_y, out_z, channels]
    out pts_idx_of_voxels INT32 any [boxes_num, out_x, out_y, out_z, max_pts_each_voxel]
    out pooled_features T any [boxes_num, out_x, out_y, out_z, channels]
    """,
    order="descs numbers ranks sizes dtypes dense not_empty data workspace overlap",
    shape=SHAPE, keys="n p=points c x y z s=most mean", problem="mluopsRoiAwarePool3dForwardProblem",
    notes={'argmax': '[n,x,y,z,c]', 'pts_idx_of_voxels': '[n,x,y,z,most]', 'pooled_features': '[n,x,y,z,c]'},
    say=SAY, fixed={"boxes_num": "rois.shape[0]", "pts_num": "pts.shape[0]", "channels": "pts_feature.shape[1]"})

operator("roiaware_pool3d_backward", "mluOpRoiAwarePool3dBackward", 40, doc="""Gradient of mluOpRoiAwarePool3dForward.

  pool_method 0: grad_out[n,x,y,z,c] is added to grad_in[argmax[n,x,y,z,c],c]
  pool_method 1: grad_out[n,x,y,z,c] / max(count, 1) is added to grad_in[p,c] of all `count` points p of the voxel

Other arguments, dtypes and statuses: those of the forward function. Sums in the same order for every number of
threads.""", args="""
    const int pool_method:mean in 0..1 named max avg
    const int boxes_num:n
    const int out_x:x in 1..256
    const int out_y:y in 1..256
    const int out_z:z in 1..256
    const int channels:c
    const int max_pts_each_voxel:most in 1..INT_MAX py=max_pts_per_voxel
    in pts_idx_of_voxels INT32 any [boxes_num, out_x, out_y, out_z, max_pts_each_voxel]
        -- as the forward function gave it; a count is cut to [0, S - 1]
    in argmax INT32 any [boxes_num, out_x, out_y, out_z, channels] -- likewise. Indices outside [0, P-1] add to
        -- nothing.
    in grad_out:grad_output T any [boxes_num, out_x, out_y, out_z, channels] py=grad_out
    out grad_in:grad_input T any [points, channels] py=grad_in
    """,
    order="descs numbers ranks sizes dtypes dense not_empty data overlap",
    shape=SHAPE, keys="n p=points c x y z s=most mean", problem="mluopsRoiAwarePool3dBackwardProblem",
    problem_doc="""Indices and counts are arbitrary.""",
    notes={'grad_input': '[points,c]'},
    say=SAY, fixed={"boxes_num": "grad_out.shape[0]", "out_x": "grad_out.shape[1]", "out_y": "grad_out.shape[2]",
           "out_z": "grad_out.shape[3]", "channels": "grad_out.shape[4]", "max_pts_each_voxel": "pts_idx_of_voxels.shape[4]"})

alias("mluOpGetRoiawarePool3dForwardWorkspaceSize", "mluOpGetRoiAwarePool3dForwardWorkspaceSize", """mluOpGetRoiAwarePool3dForwardWorkspaceSize by the older spelling, which mmcv's MLU code calls.""")

alias("mluOpRoiawarePool3dForward", "mluOpRoiAwarePool3dForward", """mluOpRoiAwarePool3dForward by the older spelling.""")

alias("mluOpRoiawarePool3dBackward", "mluOpRoiAwarePool3dBackward", """mluOpRoiAwarePool3dBackward by the older spelling.""")
