"""hard and dynamic voxelize."""

from ...torch.filling.voxelization import dynamic_voxelize_forward, hard_voxelize_forward

ENTRY_POINTS = (dynamic_voxelize_forward, hard_voxelize_forward)
