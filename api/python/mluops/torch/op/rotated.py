"""IoU and non-maximum suppression of turned rectangles, by the areas iou3d computes.

iou3d counts a corner as inside of a box up to 0.01 beyond its sides. Boxes are enlarged by a power of two, which changes no
other bit, until this margin is a few roundings of the largest coordinate."""

import math
from typing import Optional, Tuple

import torch
from torch import Tensor

from ..._errors import bad_param
from ..._shapes import expect, rank
from .._tensors import floats
from .iou3d import kept, overlap, paired_overlap

__all__ = ["box_iou_rotated", "nms_rotated"]

_MARGIN = 0.01
_ROUNDINGS = 16  # a corner's way into the other box's frame loses less


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


def ratios(boxes1: Tensor, boxes2: Tensor, of_first: bool, aligned: bool) -> Tensor:
    """Shared area over that of the first box, or of both together."""
    a, b = _wide(boxes1=boxes1, boxes2=boxes2)
    factor = _enlargement(a, b)
    areas = [each[:, 2] * each[:, 3] for each in (a, b)]
    a, b = _enlarged(a, factor), _enlarged(b, factor)
    if aligned:
        shared = paired_overlap(a, b)
    else:
        shared = overlap(a, b)
        areas = [areas[0][:, None], areas[1][None]]
    shared = shared / factor ** 2
    ratio = shared / (areas[0] if of_first else areas[0] + areas[1] - shared)
    return torch.where(shared > 0, ratio, torch.zeros_like(shared))


def kept_of_sorted(dets: Tensor, iou_threshold: float) -> Tensor:
    """Indices int64 of the boxes kept, of boxes that are sorted, best first."""
    boxes, = _wide(dets=dets)
    return kept(_enlarged(boxes, _enlargement(boxes)), iou_threshold, True)


def _check(name: str, boxes: Tensor, clockwise: bool) -> Tensor:
    """The boxes, turned clockwise."""
    n, _ = rank(name, boxes.shape, 2)
    expect(name, boxes.shape, (n, 5), ("", "x, y, w, h, turn"))
    return boxes if clockwise else boxes * boxes.new_tensor([1, 1, 1, 1, -1])


def box_iou_rotated(bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False,
                    clockwise: bool = True) -> Tensor:
    """IoU of turned rectangles.

    Args:
        bboxes1: T [N, 5]; x, y, w, h, turn in radians.
        bboxes2: T [M, 5].
        mode: "iou", or "iof": shared area over that of the first.
        aligned: one by one instead of each with each; M is N.
        clockwise: the sense of positive turns.
    Returns: T [N, M], or [N] if aligned; 0 where nothing is shared. Not differentiable (diff_iou_rotated_2d is).

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's box_iou_rotated.
    """
    if mode not in ("iou", "iof"):
        raise bad_param("mode", "iou or iof", mode)
    boxes = floats(bboxes1=bboxes1, bboxes2=bboxes2)
    first, second = (_check(f"bboxes{i}", each, clockwise) for i, each in enumerate(boxes, 1))
    if aligned:
        expect("bboxes2", second.shape, first.shape, ("the boxes of bboxes1", ""))
    with torch.no_grad():
        return ratios(first, second, mode == "iof", aligned).to(boxes[0].dtype)


def nms_rotated(dets: Tensor, scores: Tensor, iou_threshold: float, labels: Optional[Tensor] = None,
                clockwise: bool = True) -> Tuple[Tensor, Tensor]:
    """Keeps each box, best score first, whose IoU with every box kept before is not greater than iou_threshold.

    Args:
        dets: T [N, 5]; x, y, w, h, turn in radians.
        scores: T [N].
        iou_threshold: see above.
        labels: [N]; boxes suppress those of their own label alone. (mmcv takes them without effect.)
        clockwise: the sense of positive turns.
    Returns: boxes and scores T [K, 6] and indices int64 [K], best score first.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. K is read from the data: torch.compile breaks its
    graph here. Source: mmcv's nms_rotated.
    """
    boxes, scores = floats(dets=dets, scores=scores)
    turned = _check("dets", boxes, clockwise)
    expect("scores", scores.shape, boxes.shape[:1], ("the number of dets",))
    if iou_threshold != iou_threshold:
        raise bad_param("iou_threshold", "a number", iou_threshold)
    order = scores.sort(0, descending=True)[1]
    if labels is None:
        indices = order[kept_of_sorted(turned[order], iou_threshold)]
    else:
        expect("labels", labels.shape, boxes.shape[:1], ("the number of dets",))
        own = labels[order]
        places = [(own == label).nonzero()[:, 0] for label in own.unique()]
        each = [at[kept_of_sorted(turned[order[at]], iou_threshold)] for at in places]
        indices = order[torch.cat(each).sort()[0]] if each else order
    return torch.cat([boxes[indices], scores[indices].reshape(-1, 1)], 1), indices


SMALLEST: dict = {}  # its operators are those of iou3d
