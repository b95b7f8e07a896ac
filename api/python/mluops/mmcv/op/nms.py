"""nms, softnms and nms_match, which return their results. A compiled mmcv has CPU code for them and keeps it."""

from ...torch.filling.nms import nms, nms_match, softnms

ENTRY_POINTS = (nms, softnms, nms_match)
KEEPS_OWN = ("nms", "softnms", "nms_match")
