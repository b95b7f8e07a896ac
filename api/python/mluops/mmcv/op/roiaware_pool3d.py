"""roiaware_pool3d."""

from ...torch.filling.roiaware_pool3d import roiaware_pool3d_backward, roiaware_pool3d_forward

ENTRY_POINTS = (roiaware_pool3d_forward, roiaware_pool3d_backward)
