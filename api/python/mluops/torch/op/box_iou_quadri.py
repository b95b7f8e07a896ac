"""box_iou_quadri and nms_quadri: IoU and suppression of convex quadrilaterals. IoU is a composition of torch operators,
suppression is poly_nms."""

import math
from typing import Optional, Tuple

import torch
from torch import Tensor

from ..._errors import bad_param
from ..._shapes import expect, rank
from .._polygons import shared_areas, turned_area
from .._tensors import floats
from .poly_nms import poly_nms

__all__ = ["box_iou_quadri", "nms_quadri"]


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


def kept_quads(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Indices int64 of the boxes [N, 8] kept, ascending. Boxes without area, of which poly_nms keeps one alone, share
    nothing."""
    corners = boxes.detach().double().reshape(-1, 4, 2)
    across = corners[:, 2:] - corners[:, :2]
    falling, rising = (across[:, 0] * across[:, 1].flip(1)).unbind(1)
    there = boxes.detach().masked_fill((falling == rising)[:, None], math.nan)
    return poly_nms(torch.cat([there, scores.detach()[:, None]], 1), iou_threshold)


def nms_quadri(dets: Tensor, scores: Tensor, iou_threshold: float,
               labels: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """Keeps each convex quadrilateral, best score first, whose IoU with every one kept before is not greater than
    iou_threshold.

    Args:
        dets: T [N, 8]; x1, y1, ..., x4, y4, in either sense.
        scores: T [N].
        iou_threshold: at least 0.
        labels: [N]; boxes suppress those of their own label alone. (mmcv takes them without effect.)
    Returns: boxes and scores T [K, 9] and indices int64 [K], best score first.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; IoUs are computed in float64. K is read from the
    data (docs/python.md, "Sizes"). Source: mmcv's nms_quadri.
    """
    boxes, scores = floats(dets=dets, scores=scores)
    _corners("dets", boxes)
    expect("scores", scores.shape, boxes.shape[:1], ("the number of dets",))
    if not iou_threshold >= 0:
        raise bad_param("iou_threshold", "a number of at least 0", iou_threshold)
    if labels is None:
        kept = kept_quads(boxes, scores, iou_threshold)
    else:
        expect("labels", labels.shape, boxes.shape[:1], ("the number of dets",))
        own = [(labels == label).nonzero()[:, 0] for label in labels.unique()]
        kept = torch.cat([labels.new_zeros(0, dtype=torch.int64)]
                         + [at[kept_quads(boxes[at], scores[at], iou_threshold)] for at in own])
    indices = kept[scores[kept].sort(0, descending=True)[1]]
    return torch.cat([boxes[indices], scores[indices, None]], 1), indices


SMALLEST: dict = {}  # no operator of the library
