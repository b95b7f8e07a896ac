"""VoxelPooling."""
from api.generate.describe import *

family("VoxelPooling", "mlu_op.h of mlu-ops.",
       letters={"num_points": "N", "num_channels": "C", "num_voxel_y": "Y", "num_voxel_x": "X"})

shape("mluopsVoxelPoolingShape", "batch, points, c; x, y, z",
      "geom_xyz and pos_memo [batch,points,3], input [batch,points,c], output [batch,y,x,c].")

SAY = {"geom_xyz.3": "x, y, z", "pos_memo.3": "image, y, x"}

operator("voxel_pooling_forward", "mluOpVoxelPoolingForward", 62, doc="""Adds the features of points to the cells of a map that they lie over (scatter-add).

Sums are FLOAT where T is narrower. Points of a cell are added in their
order: bitwise equal for every number of threads. Cost: each feature is read once. Source: Li et al., "BEVDepth",
AAAI 2023; docs/op/voxel_pooling.md.""", args="""
    const int batch_size:batch >= 1
    const int num_points:points >= 1 -- of an image
    const int num_channels:c >= 1
    const int num_voxel_x:x >= 1
    const int num_voxel_y:y >= 1
    const int num_voxel_z:z >= 1 -- Z >= 1
    in geom_xyz INT32 [batch_size, num_points, 3] -- the voxel x, y, z of each point. A point outside [0,X-1], [0,Y-1],
        -- [0,Z-1] adds to nothing.
    in input_features:input T [batch_size, num_points, num_channels] py=input_features
    out output_features:output T [batch_size, num_voxel_y, num_voxel_x, num_channels] py=output_features
        -- the sums over all z
    out pos_memo INT32 [batch_size, num_points, 3] -- the image, y and x each point was added to, -1 where to none
    """,
    order="descs numbers ranks sizes dtypes layouts dense not_empty data overlap",
    keys="b=batch n=points c x y z",
    notes={'geom_xyz': 'arbitrary: outside the voxels adds to nothing'},
    say=SAY, floats="FLOAT", fixed={"batch_size": "geom_xyz.shape[0]", "num_points": "geom_xyz.shape[1]",
                           "num_channels": "input_features.shape[2]"})
