"""RoIPool."""

from ...torch.filling.roi_pool import roi_pool_backward, roi_pool_forward

ENTRY_POINTS = (roi_pool_forward, roi_pool_backward)
