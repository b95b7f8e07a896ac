"""box_iou_quadri and nms_quadri: IoU and suppression of convex quadrilaterals. A composition of torch operators, no
kernel of the library."""

from typing import Optional, Tuple

import torch
from torch import Tensor

from ..._errors import bad_param
from ..._shapes import expect, rank
from .._polygons import shared_areas, turned_area
from .._tensors import floats

__all__ = ["box_iou_quadri", "nms_quadri"]

_ROWS = 1 << 22  # comparisons of bounds at once


def _corners(name: str, boxes: Tensor) -> Tensor:
    n, _ = rank(name, boxes.shape, 2)
    expect(name, boxes.shape, (n, 8), ("", "x1, y1, ..., x4, y4"))
    return boxes.detach().double().reshape(n, 4, 2)


def _ratios(first: Tensor, second: Tensor, pairs: Tuple[Tensor, Tensor], of_first: bool = False) -> Tensor:
    shared = shared_areas(first, second, pairs)
    whole = turned_area(first).abs()[pairs[0]]
    if not of_first:
        whole = whole + turned_area(second).abs()[pairs[1]] - shared
    some = shared > 0
    return torch.where(some, shared / torch.where(some, whole, torch.ones_like(whole)), torch.zeros_like(shared))


def box_iou_quadri(bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False) -> Tensor:
    """IoU of convex quadrilaterals. Composed of torch operators, computed in double.

    Args:
        bboxes1: T [N, 8]; x1, y1, ..., x4, y4, in either sense.
        bboxes2: T [M, 8].
        mode: "iou", or "iof": shared area over that of the first.
        aligned: one by one instead of each with each; M is N.
    Returns: T [N, M], or [N] if aligned; 0 where nothing is shared. Not differentiable.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's box_iou_quadri.
    """
    if mode not in ("iou", "iof"):
        raise bad_param("mode", "iou or iof", mode)
    boxes = floats(bboxes1=bboxes1, bboxes2=bboxes2)
    first, second = (_corners(f"bboxes{i}", each) for i, each in enumerate(boxes, 1))
    rows, cols = (torch.arange(each.shape[0], device=each.device) for each in (first, second))
    if aligned:
        expect("bboxes2", second.shape, first.shape, ("the boxes of bboxes1", "", ""))
        return _ratios(first, second, (rows, rows), mode == "iof").to(boxes[0].dtype)
    pairs = rows.repeat_interleave(cols.shape[0]), cols.repeat(rows.shape[0])
    return _ratios(first, second, pairs, mode == "iof").reshape(rows.shape[0], cols.shape[0]).to(boxes[0].dtype)


def _close(boxes: Tensor) -> Tuple[Tensor, Tensor]:
    """The pairs i < j of boxes [N, 4, 2] whose bounds share area."""
    low, high = boxes.amin(1), boxes.amax(1)
    count = boxes.shape[0]
    found = []
    for rows in torch.arange(count, device=boxes.device).split(max(_ROWS // max(count, 1), 1)):
        near = (torch.min(high[rows, None], high) > torch.max(low[rows, None], low)).all(2)
        i, j = (near & (rows[:, None] < torch.arange(count, device=boxes.device))).nonzero().unbind(1)
        found.append((rows[i], j))
    return tuple(torch.cat(each) for each in zip(*found))


def kept_quads(corners: Tensor, iou_threshold: float, groups: Optional[Tensor] = None) -> Tensor:
    """Which of boxes [N, 4, 2], best first, no box kept before suppresses, bool [N]."""
    keep = torch.ones(corners.shape[0], dtype=torch.bool, device=corners.device)
    if not corners.shape[0]:
        return keep
    i, j = _close(corners)
    if groups is not None:
        same = groups[i] == groups[j]
        i, j = i[same], j[same]
    over = _ratios(corners, corners, (i, j)) > iou_threshold
    i, j = i[over], j[over]
    while True:  # right for one box more each time at least, mostly for all in a few
        left = torch.ones_like(keep)
        left[j[keep[i]]] = False
        if torch.equal(left, keep):
            return keep
        keep = left


def nms_quadri(dets: Tensor, scores: Tensor, iou_threshold: float,
               labels: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """Keeps each convex quadrilateral, best score first, whose IoU with every one kept before is not greater than
    iou_threshold. Composed of torch operators, computed in double.

    Args:
        dets: T [N, 8]; x1, y1, ..., x4, y4, in either sense.
        scores: T [N].
        iou_threshold: at least 0.
        labels: [N]; boxes suppress those of their own label alone. (mmcv takes them without effect.)
    Returns: boxes and scores T [K, 9] and indices int64 [K], best score first.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's nms_quadri.
    """
    boxes, scores = floats(dets=dets, scores=scores)
    corners = _corners("dets", boxes)
    expect("scores", scores.shape, boxes.shape[:1], ("the number of dets",))
    if not iou_threshold >= 0:
        raise bad_param("iou_threshold", "a number of at least 0", iou_threshold)
    if labels is not None:
        expect("labels", labels.shape, boxes.shape[:1], ("the number of dets",))
    order = scores.sort(0, descending=True)[1]
    indices = order[kept_quads(corners[order], iou_threshold, None if labels is None else labels[order])]
    return torch.cat([boxes[indices], scores[indices, None]], 1), indices


SMALLEST: dict = {}  # no operator of the library
