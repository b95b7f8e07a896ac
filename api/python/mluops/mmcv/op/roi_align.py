"""RoIAlign. A compiled mmcv has CPU code for it and keeps it."""

from ...torch.filling.roi_align import roi_align_backward, roi_align_forward

ENTRY_POINTS = (roi_align_forward, roi_align_backward)
KEEPS_OWN = ("roi_align_forward", "roi_align_backward")
