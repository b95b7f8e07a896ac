"""roipoint_pool3d."""

from ...torch.filling.roipoint_pool3d import roipoint_pool3d_forward

ENTRY_POINTS = (roipoint_pool3d_forward,)
