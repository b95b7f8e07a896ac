"""box_iou_rotated and nms_rotated, by the areas iou3d computes. A compiled mmcv has CPU code for them and keeps it.

iou3d counts a corner as inside of a box up to 0.01 beyond its sides. Boxes are enlarged by a power of two, which changes no
other bit, until this margin is a few roundings of the largest coordinate."""

import math

import torch

from ...torch._tensors import floats
from ...torch.op.iou3d import kept, overlap

_MARGIN = 0.01
_ROUNDINGS = 16  # a corner's way into the other box's frame loses less
_ROWS = 64  # of a matrix of which only the diagonal is wanted


def _enlargement(*boxes):
    largest = max((float(each[:, :4].abs().max()) for each in boxes if each.numel() > 0), default=0.0)
    smallest_margin = _ROUNDINGS * torch.finfo(boxes[0].dtype).eps * largest
    if not (math.isfinite(largest) and smallest_margin > 0):
        return 1.0
    return 2.0 ** math.floor(math.log2(_MARGIN / smallest_margin))


def _enlarged(boxes, factor):
    """[N, 5] x, y, w, h, turn -> [N, 7] x, y, z, dx, dy, dz, turn."""
    result = boxes.new_zeros(boxes.shape[0], 7)
    result[:, [0, 1, 3, 4]] = boxes[:, :4] * factor
    result[:, 6] = boxes[:, 4]
    return result


def _wide(**boxes):
    """Half and bfloat16 have no range to enlarge."""
    found = floats(**boxes)
    return [each.float() if each.dtype in (torch.float16, torch.bfloat16) else each for each in found]


def box_iou_rotated(boxes1, boxes2, ious, mode_flag=0, aligned=False):
    a, b = _wide(boxes1=boxes1, boxes2=boxes2)
    factor = _enlargement(a, b)
    areas = [each[:, 2] * each[:, 3] for each in (a, b)]
    a, b = _enlarged(a, factor), _enlarged(b, factor)
    if aligned:
        rows = [overlap(a[i:i + _ROWS], b[i:i + _ROWS]).diagonal() for i in range(0, len(a), _ROWS)]
        shared = torch.cat(rows) if rows else areas[0]
    else:
        shared = overlap(a, b)
        areas = [areas[0][:, None], areas[1][None]]
    shared = shared / factor ** 2
    ratio = shared / (areas[0] if mode_flag == 1 else areas[0] + areas[1] - shared)
    ious.copy_(torch.where(shared > 0, ratio, torch.zeros_like(shared)).reshape(ious.shape))


def nms_rotated(dets, scores, order, dets_sorted, labels, iou_threshold, multi_label=0):
    boxes, = _wide(dets=dets_sorted[:, :5])
    boxes = _enlarged(boxes, _enlargement(boxes))
    if not multi_label:
        return order[kept(boxes, iou_threshold, True)]
    of_each = labels[order]
    places = [(of_each == label).nonzero()[:, 0] for label in of_each.unique()]
    return order[torch.cat([at[kept(boxes[at], iou_threshold, True)] for at in places]).sort()[0]]


ENTRY_POINTS = (box_iou_rotated, nms_rotated)
KEEPS_OWN = ("box_iou_rotated", "nms_rotated")
