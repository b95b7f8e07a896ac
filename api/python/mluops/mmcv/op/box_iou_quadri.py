"""box_iou_quadri and nms_quadri. A compiled mmcv has CPU code for them and keeps it."""

import torch

from ...torch._groups import best_first
from ...torch.op import box_iou_quadri as _ours


def box_iou_quadri(bboxes1, bboxes2, ious, mode_flag=0, aligned=False):
    ious.copy_(_ours.box_iou_quadri(bboxes1, bboxes2, "iof" if mode_flag else "iou", aligned).reshape(ious.shape))


def nms_quadri(dets, scores, order, dets_sorted, iou_threshold, multi_label=0):
    """Labels have no effect, as in mmcv's own code: models shift the boxes of each label apart (batched_nms)."""
    kept = _ours.kept_quads(torch.cat([dets[:, :8], scores.unsqueeze(1)], 1), iou_threshold)
    return best_first(kept, scores)


ENTRY_POINTS = (box_iou_quadri, nms_quadri)
KEEPS_OWN = ("box_iou_quadri", "nms_quadri")
