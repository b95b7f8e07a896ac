"""box_iou_rotated and nms_rotated. A compiled mmcv has CPU code for them and keeps it."""

from ...torch._tensors import floats
from ...torch.op.rotated import iou, kept


def box_iou_rotated(boxes1, boxes2, ious, mode_flag=0, aligned=False):
    ious.copy_(iou(*floats(bboxes1=boxes1, bboxes2=boxes2), mode_flag, aligned).reshape(ious.shape))


def nms_rotated(dets, scores, order, dets_sorted, labels, iou_threshold, multi_label=0):
    """Labels have no effect, as in mmcv's own code: models shift the boxes of each label apart (batched_nms)."""
    return kept(*floats(dets=dets[:, :5], scores=scores), iou_threshold)


ENTRY_POINTS = (box_iou_rotated, nms_rotated)
KEEPS_OWN = ("box_iou_rotated", "nms_rotated")
