"""RoiPointPool3d."""
from api.generate.describe import *

family("RoiPointPool3d", "statuses as MLU-OPS 1.11 gives them.",
       letters={"pts_num": "N", "feature_in_len": "C", "boxes_num": "M", "sampled_pts_num": "S", "width": "3 + C"})

SHAPE = shape("mluopsRoiPointPool3dShape", "b, n, m, c, samples",
              "RoiPointPool3d: points [b,n,3], point_features [b,n,c], boxes3d [b,m,7], pooled_features "
              "[b,m,samples,3+c], pooled_empty_flag [b,m].")

getter("mluOpGetRoiPointPool3dWorkspaceSize", "roipoint_pool3d",
       "batch_size pts_num boxes_num feature_in_len sampled_pts_num points point_features boxes3d pooled_features "
       "pooled_empty_flag", "size form", """
    points.desc->elements, element_bytes(points)
    point_features.desc->elements, element_bytes(points)
    """, "those of points and point_features, for transposed copies", size="size")

SAY = {"3": "coordinates of a point", "7": "numbers of a box", "width": "coordinates and features"}

operator("roipoint_pool3d", "mluOpRoiPointPool3d", 28, doc="""Coordinates and features of the first S points in each upright box.

  p_0 < p_1 < ... < p_(n-1): the indices of the points in box m, by the rule of mluOpExtPointsInBoxesPart (z of a
box is the centre of its bottom); n is cut at S pooled_features[b,m,s,:] = points[b,p,:], point_features[b,p,:]  with
p = p_(s mod n);  zeros where n = 0 pooled_empty_flag[b,m] = 1 where n = 0, else 0

Cost: at most 12*B*N*M flops and B*M*S*(3+C) copies. Source: mmcv's roipoint_pool3d.""", args="""
    const int batch_size:b
    const int pts_num:n
    const int boxes_num:m
    const int feature_in_len:c
    const int sampled_pts_num:samples
    in points T any [batch_size, pts_num, 3] -- x, y, z
    in point_features T any [batch_size, pts_num, feature_in_len]
    in boxes3d T any [batch_size, boxes_num, 7] -- x, y, z, dx, dy, dz, rotation about z
    workspace
    out pooled_features T any [batch_size, boxes_num, sampled_pts_num, width]
    out pooled_empty_flag INT32 any [batch_size, boxes_num]
    """,
    order="descs ranks sizes strides dtypes countable not_empty | workspace data overlap",
    shape=SHAPE, keys="b n m c s=samples", problem="mluopsRoiPointPool3dProblem",
    say=SAY, derive={"width": "feature_in_len + 3"},
    fixed={"batch_size": "points.shape[0]", "pts_num": "points.shape[1]", "boxes_num": "boxes3d.shape[1]",
           "feature_in_len": "point_features.shape[2]"})
