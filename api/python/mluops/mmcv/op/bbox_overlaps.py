"""bbox_overlaps. A compiled mmcv has CPU code for it and keeps it."""

from ...torch._tensors import floats
from ...torch.op.bbox_overlaps import overlaps


def bbox_overlaps(bboxes1, bboxes2, ious, mode=0, aligned=False, offset=0):
    ious.copy_(overlaps(*floats(bboxes1=bboxes1, bboxes2=bboxes2), mode, aligned, offset).reshape(ious.shape))


ENTRY_POINTS = (bbox_overlaps,)
KEEPS_OWN = ("bbox_overlaps",)
