"""BEVDepth's voxel_pooling_ext: camera features summed in the cells of a map."""

import torch

from ...torch._buffers import adding, filling, room, write
from ...torch._integers import index32
from ...torch.op.voxel_pooling import forward

__all__ = ["voxel_pooling_forward_wrapper"]

PACKAGE = "bevdepth"
NAMES = ("voxel_pooling_ext", "*.voxel_pooling_ext")


def voxel_pooling_forward_wrapper(batch_size, num_points, num_channels, num_voxel_x, num_voxel_y, num_voxel_z, geom_xyz,
                                  input_features, output_features, pos_memo):
    """Adds to output_features [B, Y, X, C], and writes image, y and x of the points inside into pos_memo [B, N, 3]."""
    places = room("geom_xyz", geom_xyz.contiguous(), (batch_size, num_points, 3), torch.int64)
    features = room("input_features", input_features.contiguous(), (batch_size, num_points, num_channels), torch.float32)
    sums, memo = forward(index32("geom_xyz", places), features, num_voxel_x, num_voxel_y, num_voxel_z)
    known = room("pos_memo", pos_memo, memo.shape, memo.dtype)
    write(adding("output_features", output_features, sums),
          filling("pos_memo", known, memo.where(memo >= 0, known.to(memo.dtype))))
