"""box_iou_quadri and nms_quadri: IoU and suppression of quadrilaterals, the latter by poly_nms."""

import math
from typing import Optional, Tuple

import torch
from torch import Tensor

from ..._functions.box_iou import BOX_IOU_QUADRI as IOU
from .. import _eager
from .._blocks import bad_param, expect, floats, named, no_derivative, no_tangents, operator, run
from .._groups import best_first, group_operator, group_tensor, split
from .poly_nms import poly_nms
from .rotated import MODES, count_of, pairs

__all__ = ["box_iou_quadri", "nms_quadri"]


CORNERS = "x1, y1, x2, y2, x3, y3, x4, y4"

_iou = operator("box_iou_quadri(Tensor bboxes1, Tensor bboxes2, int mode, bool aligned) -> Tensor",
                lambda bboxes1, bboxes2, mode, aligned: pairs(bboxes1, bboxes2, aligned, CORNERS),
                lambda ious, bboxes1, bboxes2, mode, aligned: run(IOU, mode, aligned, bboxes1, bboxes2, ious),
                setup=no_derivative, jvp=no_tangents)


def box_iou_quadri(bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False) -> Tensor:
    """IoU of quadrilaterals.

    Args:
        bboxes1: T [N, 8]; x1, y1, ..., x4, y4, in either sense.
        bboxes2: T [M, 8].
        mode: "iou", or "iof": shared area over that of the first.
        aligned: one by one instead of each with each; M is N.
    Returns: T [N, M], or [N] if aligned; 0 where nothing is shared. Not differentiable.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; computed in float64. Source: mmcv's
    box_iou_quadri; mluOpExtBoxIouQuadri.
    """
    return _iou(*floats(bboxes1=bboxes1, bboxes2=bboxes2), named("mode", mode, *MODES), bool(aligned))


def _is_flat(x1: float, y1: float, x2: float, y2: float, x3: float, y3: float, x4: float, y4: float, _: float) -> bool:
    return (x3 - x1) * (y4 - y2) == (x4 - x2) * (y3 - y1)


def kept_quads(dets: Tensor, iou_threshold: float) -> Tensor:
    """Indices int64 of the boxes and scores [N, 9] kept, ascending. Boxes without area, of which poly_nms keeps one alone,
    share nothing."""
    dets = dets.detach()
    # A few boxes are looked at in less time than torch's calls take, but no graph would see it.
    if _eager.recording() or len(dets) > 32 or any(_is_flat(*box) for box in dets.tolist()):
        wide = dets.double()
        x1, y1, x2, y2 = (wide[:, 4:8] - wide[:, :4]).unbind(1)  # the diagonals
        dets = dets.masked_fill((x1 * y2 == x2 * y1).unsqueeze(1), math.nan)
    return poly_nms(dets, iou_threshold)


def _groups_fake(dets, scores, labels, iou_threshold):
    n = count_of("dets", dets, CORNERS)
    return dets.new_empty((n,), dtype=torch.int64), dets.new_empty((1,), dtype=torch.int32)


def _kept_of_groups(dets, scores, labels, iou_threshold):
    alone, others = split(labels)
    both = torch.cat([dets, scores.unsqueeze(1)], 1)
    return (best_first(torch.cat([alone, *(at[kept_quads(both[at], iou_threshold)] for at in others)]), scores),)


_nms_of_groups = group_operator("nms_quadri_of_groups(Tensor dets, Tensor scores, Tensor labels, float iou_threshold) -> "
                                "(Tensor, Tensor)", _groups_fake, _kept_of_groups)


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
    data (docs/python.md). Source: mmcv's nms_quadri.
    """
    boxes, scores = floats(dets=dets, scores=scores)
    count_of("dets", boxes, CORNERS)
    expect("scores", scores.shape, boxes.shape[:1], ("the number of dets",))
    if not iou_threshold >= 0:
        raise bad_param("iou_threshold", "a number of at least 0", iou_threshold)
    both = torch.cat([boxes, scores.unsqueeze(1)], 1)
    if labels is None:
        indices = best_first(kept_quads(both, iou_threshold), scores)
    else:
        indices = _nms_of_groups(boxes, scores, group_tensor("labels", labels, boxes), float(iou_threshold))[0]
    return both.index_select(0, indices), indices


SMALLEST = {"box_iou_quadri": lambda ones, zeros: box_iou_quadri(ones(1, 8), ones(1, 8))}
