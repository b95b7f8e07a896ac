"""iou3d: overlaps and suppression; mmcv sorts the boxes."""

from ...torch._tensors import floats
from ...torch.op import iou3d as _ours


def iou3d_boxes_overlap_bev_forward(boxes_a, boxes_b, ans_iou):
    ans_iou.copy_(_ours.overlap(*floats(boxes_a=boxes_a, boxes_b=boxes_b)))


def _write(boxes, keep, num_out, nms_overlap_thresh, rotated):
    found = _ours.kept(boxes, nms_overlap_thresh, rotated)
    keep[:len(found)].copy_(found)
    num_out.fill_(len(found))


def iou3d_nms3d_forward(boxes, keep, num_out, nms_overlap_thresh):
    _write(boxes, keep, num_out, nms_overlap_thresh, True)


def iou3d_nms3d_normal_forward(boxes, keep, num_out, nms_overlap_thresh):
    _write(boxes, keep, num_out, nms_overlap_thresh, False)


ENTRY_POINTS = (iou3d_boxes_overlap_bev_forward, iou3d_nms3d_forward, iou3d_nms3d_normal_forward)
