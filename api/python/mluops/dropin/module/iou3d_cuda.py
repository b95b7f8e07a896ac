"""iou3d_cuda of PointRCNN and of mmdet3d before 1.0, ioubev_nms_cuda of DSVT: boxes x1, y1, x2, y2, turn, which turns from y to x."""

import torch

from ...torch._buffers import fill, fill_first
from ...torch._tensors import floats
from ...torch.op.iou3d import kept, overlap

__all__ = ["boxes_iou_bev_gpu", "boxes_overlap_bev_gpu", "nms_gpu", "nms_normal_gpu"]

PACKAGE = "mmdet3d"
NAMES = ("iou3d_cuda", "*.iou3d_cuda", "ioubev_nms_cuda", "*.ioubev_nms_cuda")

_LEAST_AREA = 1e-8


def _standing(boxes):
    """x, y, z, sides, turn of boxes of height 1."""
    x1, y1, x2, y2, turn = boxes.unbind(1)
    zero = torch.zeros_like(x1)
    return torch.stack([(x1 + x2) / 2, (y1 + y2) / 2, zero, x2 - x1, y2 - y1, zero + 1, -turn], 1)


def _area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def _shared(a, b):
    return overlap(_standing(a), _standing(b))


def boxes_overlap_bev_gpu(boxes_a, boxes_b, ans_overlap):
    fill("ans_overlap", ans_overlap, _shared(*floats(boxes_a=boxes_a, boxes_b=boxes_b)))
    return 1


def boxes_iou_bev_gpu(boxes_a, boxes_b, ans_iou):
    a, b = floats(boxes_a=boxes_a, boxes_b=boxes_b)
    shared = _shared(a, b)
    fill("ans_iou", ans_iou, shared / (_area(a)[:, None] + _area(b)[None] - shared).clamp(min=_LEAST_AREA))
    return 1


def _nms(boxes, keep, thresh, rotated):
    boxes, = floats(boxes=boxes)
    return fill_first("keep", keep, kept(_standing(boxes), float(thresh), rotated))


def nms_gpu(boxes, keep, nms_overlap_thresh, device_id=None):
    """Boxes come sorted. Returns how many of keep's first elements are set."""
    return _nms(boxes, keep, nms_overlap_thresh, True)


def nms_normal_gpu(boxes, keep, nms_overlap_thresh, device_id=None):
    return _nms(boxes, keep, nms_overlap_thresh, False)
