"""IoU and non-maximum suppression of rotated rectangles."""

from typing import Optional, Tuple

import torch
from torch import Tensor

from ..._functions.box_iou import BOX_IOU_ROTATED as IOU, NMS_ROTATED as NMS
from .._blocks import (bad_param, described, expect, first, floats, named, no_derivative, no_tangents, operator, rank,
                       run)
from .._groups import best_first, group_operator, group_tensor, split

__all__ = ["box_iou_rotated", "nms_rotated"]


def count_of(name: str, boxes: Tensor, numbers: str) -> int:
    """How many boxes of such numbers, "x, y, w, h, angle", there are."""
    n, _ = rank(name, boxes.shape, 2)
    expect(name, boxes.shape, (n, numbers.count(",") + 1), ("", numbers))
    return n


def pairs(bboxes1: Tensor, bboxes2: Tensor, aligned: bool, numbers: str) -> Tensor:
    """Room for the IoUs of boxes."""
    n, m = count_of("bboxes1", bboxes1, numbers), count_of("bboxes2", bboxes2, numbers)
    if aligned:
        expect("bboxes2", bboxes2.shape, bboxes1.shape, ("the boxes of bboxes1", ""))
    return bboxes1.new_empty((n,) if aligned else (n, m))


MODES = "iou", "iof"
_NUMBERS = "x, y, w, h, angle"

iou = operator("box_iou_rotated(Tensor bboxes1, Tensor bboxes2, int mode, bool aligned) -> Tensor",
               lambda bboxes1, bboxes2, mode, aligned: pairs(bboxes1, bboxes2, aligned, _NUMBERS),
               lambda ious, bboxes1, bboxes2, mode, aligned: run(IOU, mode, aligned, bboxes1, bboxes2, ious),
               setup=no_derivative, jvp=no_tangents)


# How many boxes are kept is in the data: the operator returns as many as there may be, and how many there are.
_nms = described("nms_rotated(dets, scores, iou_threshold)", NMS,
                 rule=lambda n, width, **_: expect("dets", (n, width), (n, 5), ("", _NUMBERS)))


def kept(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Indices int64 of the boxes kept, best score first."""
    keep, count = _nms(dets, scores, float(iou_threshold))
    return first(count, keep)[0].long()


def _clockwise(boxes: Tensor, clockwise: bool) -> Tensor:
    """The boxes with angles that count clockwise."""
    return boxes if clockwise or boxes.dim() != 2 or boxes.shape[1] != 5 else boxes * boxes.new_tensor([1, 1, 1, 1, -1])


def box_iou_rotated(bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False,
                    clockwise: bool = True) -> Tensor:
    """IoU of rotated rectangles.

    Args:
        bboxes1: T [N, 5]; x, y, w, h, angle in radians.
        bboxes2: T [M, 5].
        mode: "iou", or "iof": shared area over that of the first.
        aligned: one by one instead of each with each; M is N.
        clockwise: the sense of positive angles.
    Returns: T [N, M], or [N] if aligned; 0 where nothing is shared. Not differentiable (diff_iou_rotated_2d is).

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's box_iou_rotated.
    """
    a, b = floats(bboxes1=bboxes1, bboxes2=bboxes2)
    return iou(_clockwise(a, clockwise), _clockwise(b, clockwise), named("mode", mode, *MODES), bool(aligned))


def _groups_fake(dets, scores, labels, iou_threshold):
    keep, count = _nms.form.fake(dets, scores, iou_threshold)
    return keep.long(), count


def _kept_of_groups(dets, scores, labels, iou_threshold):
    alone, others = split(labels)
    return (best_first(torch.cat([alone, *(at[kept(dets[at], scores[at], iou_threshold)] for at in others)]), scores),)


_nms_of_groups = group_operator("nms_rotated_of_groups(Tensor dets, Tensor scores, Tensor labels, float iou_threshold) -> "
                                "(Tensor, Tensor)", _groups_fake, _kept_of_groups)


def kept_of_groups(dets: Tensor, scores: Tensor, labels: Tensor, iou_threshold: float) -> Tensor:
    """Indices int64 of the boxes kept of each label, best score first."""
    return _nms_of_groups(dets, scores, group_tensor("labels", labels, dets), float(iou_threshold))[0]


def nms_rotated(dets: Tensor, scores: Tensor, iou_threshold: float, labels: Optional[Tensor] = None,
                clockwise: bool = True) -> Tuple[Tensor, Tensor]:
    """Keeps each box, best score first, whose IoU with every box kept before is not greater than iou_threshold.

    Args:
        dets: T [N, 5]; x, y, w, h, angle in radians.
        scores: T [N].
        iou_threshold: see above.
        labels: [N]; boxes suppress those of their own label alone. (mmcv takes them without effect.)
        clockwise: the sense of positive angles.
    Returns: boxes and scores T [K, 6] and indices int64 [K], best score first.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. K is read from the data (docs/python.md).
    Source: mmcv's nms_rotated.
    """
    boxes, scores = floats(dets=dets, scores=scores)
    if iou_threshold != iou_threshold:
        raise bad_param("iou_threshold", "a number", iou_threshold)
    rotated = _clockwise(boxes, clockwise)
    if labels is None:
        indices = kept(rotated, scores, iou_threshold)
    else:
        indices = kept_of_groups(rotated, scores, labels, iou_threshold)
    return torch.cat([boxes[indices], scores[indices].reshape(-1, 1)], 1), indices


SMALLEST = {"box_iou_rotated": lambda ones, zeros: box_iou_rotated(ones(1, 5), ones(1, 5))}
