"""bezier_align. A compiled mmcv has CPU code for it and keeps it."""

from ...torch.filling.bezier_align import bezier_align_backward, bezier_align_forward

ENTRY_POINTS = (bezier_align_forward, bezier_align_backward)
KEEPS_OWN = ("bezier_align_forward", "bezier_align_backward")
