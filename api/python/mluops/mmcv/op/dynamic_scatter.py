"""dynamic_scatter, whose forward function returns its results."""

from ...torch.filling.dynamic_scatter import dynamic_point_to_voxel_backward, dynamic_point_to_voxel_forward

ENTRY_POINTS = (dynamic_point_to_voxel_forward, dynamic_point_to_voxel_backward)
