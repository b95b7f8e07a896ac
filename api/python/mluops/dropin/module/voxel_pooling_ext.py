"""BEVDepth's voxel_pooling_ext: camera features summed in the cells of a map."""

from ...torch._integers import index32
from ...torch.op.voxel_pooling import forward

__all__ = ["voxel_pooling_forward_wrapper"]

PACKAGE = "bevdepth"
NAMES = ("voxel_pooling_ext", "*.voxel_pooling_ext")


def voxel_pooling_forward_wrapper(batch_size, num_points, num_channels, num_voxel_x, num_voxel_y, num_voxel_z, geom_xyz,
                                  input_features, output_features, pos_memo):
    """Adds to output_features [B, Y, X, C], and writes image, y and x of the points inside into pos_memo [B, N, 3]."""
    sums, memo = forward(index32("geom_xyz", geom_xyz.reshape(batch_size, num_points, 3)),
                         input_features.reshape(batch_size, num_points, num_channels), num_voxel_x, num_voxel_y,
                         num_voxel_z)
    output_features.add_(sums.reshape(output_features.shape))
    inside = memo.reshape(pos_memo.shape)
    pos_memo.copy_(inside.where(inside >= 0, pos_memo.to(inside.dtype)))
