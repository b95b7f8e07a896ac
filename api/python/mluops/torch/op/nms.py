"""Non-maximum suppression: hard, soft, and the groups it makes."""

from typing import List, Tuple

import torch
from torch import Tensor

from ..._functions.nms import NMS, NMS_MATCH, SOFT_NMS
from .._blocks import (at_least, bad_param, described, expect, first, floats, integer, named, no_derivative,
                       no_tangents, operator, rank, renamed, run)
from .._groups import apart_exactly, best_first, group_operator, group_tensor, split

__all__ = ["nms", "nms_match", "soft_nms"]


_EVERY_SCORE = float("-inf")
_METHODS = "naive", "linear", "gaussian"

# How many results there are is in the data. The operators return as many as there may be, and how many there are.


def _check_boxes(boxes, scores, offset):
    n, _ = rank("boxes", boxes.shape, 2)
    expect("boxes", boxes.shape, (n, 4), ("", "x1, y1, x2, y2"))
    expect("scores", scores.shape, (n,), ("the number of boxes",))
    if offset not in (0, 1):
        raise bad_param("offset", "0 or 1", offset)
    return n


def _indices(like, *shape):
    return like.new_empty(shape, dtype=torch.int64)


def _count(like):
    return like.new_empty((1,), dtype=torch.int32)


def _nms_fake(boxes, scores, iou_threshold, offset, score_threshold, max_num):
    return _indices(boxes, _check_boxes(boxes, scores, offset)), _count(boxes)


def _nms_call(outputs, boxes, scores, iou_threshold, offset, score_threshold, max_num):
    indices, count = outputs
    most = max_num if 0 < max_num < boxes.shape[0] else boxes.shape[0]
    lowest = score_threshold if score_threshold > 0 else _EVERY_SCORE
    return run(NMS, (0, 0, iou_threshold, most, lowest, offset, 0, False), boxes, scores, None, 0, indices, count)


_nms = operator("nms(Tensor boxes, Tensor scores, float iou_threshold, int offset, float score_threshold, int max_num)"
                " -> (Tensor, Tensor)", _nms_fake, _nms_call, setup=no_derivative, jvp=no_tangents)


_soft_nms = described("soft_nms(boxes, scores, iou_threshold, sigma, min_score, method, offset)", SOFT_NMS,
                      int64="indices")
_nms_match = described("nms_match(dets, iou_threshold)", NMS_MATCH, int64="indices group_sizes")


def kept(boxes: Tensor, scores: Tensor, iou_threshold: float, offset: int = 0, score_threshold: float = 0.0,
         max_num: int = -1) -> Tensor:
    """Indices int64 of the boxes nms keeps."""
    indices, count = _nms(*floats(boxes=boxes, scores=scores), float(iou_threshold), integer("offset", offset),
                          float(score_threshold), integer("max_num", max_num))
    return first(count, indices)[0]


def softened(boxes: Tensor, scores: Tensor, iou_threshold: float, sigma: float, min_score: float, method: int,
             offset: int) -> Tuple[Tensor, Tensor]:
    """dets [K, 5] and indices int64 [K] of soft_nms."""
    at_least(0, method=method)
    dets, indices, count = _soft_nms(*floats(boxes=boxes, scores=scores), float(iou_threshold), float(sigma),
                                     float(min_score), method, integer("offset", offset))
    return first(count, dets, indices)


# ---- within groups


def _groups_fake(boxes, scores, groups, iou_threshold, offset, score_threshold, max_num):
    return _nms_fake(boxes, scores, iou_threshold, offset, score_threshold, max_num)


def _kept_of_groups(boxes, scores, groups, *numbers):
    """One call where boxes can be moved apart exactly, else one for each group: the same arithmetic, that of float64."""
    wide, ranked = boxes.double(), scores.double()
    moved = apart_exactly(wide, groups)
    if moved is not None:
        return (kept(moved, ranked, *numbers),)
    alone, others = split(groups)
    lowest, most = numbers[2:]
    found = [alone[ranked[alone] > lowest] if lowest > 0 else alone]
    found += [places[kept(wide[places], ranked[places], *numbers)] for places in others]
    indices = best_first(torch.cat(found), ranked)
    return (indices[:most] if most > 0 else indices,)


_nms_of_groups = group_operator(
    "nms_of_groups(Tensor boxes, Tensor scores, Tensor groups, float iou_threshold, int offset, float score_threshold, "
    "int max_num) -> (Tensor, Tensor)", _groups_fake, _kept_of_groups)


def kept_of_groups(boxes: Tensor, scores: Tensor, groups: Tensor, iou_threshold: float, offset: int = 0,
                   score_threshold: float = 0.0, max_num: int = -1) -> Tensor:
    """Indices int64 of the boxes nms keeps of each group, best score first."""
    boxes, scores = floats(boxes=boxes, scores=scores)
    return _nms_of_groups(boxes, scores, group_tensor("idxs", groups, boxes), float(iou_threshold),
                          integer("offset", offset), float(score_threshold), integer("max_num", max_num))[0]


def _soft_groups_fake(boxes, scores, groups, *numbers):
    return _soft_nms.form.fake(boxes, scores, *numbers)


def _softened_of_groups(boxes, scores, groups, *numbers):
    alone, others = split(groups)
    every = [softened(boxes[places], scores[places], *numbers) for places in others]
    indices = torch.cat([alone, *(places[indices] for places, (_, indices) in zip(others, every))])
    final = scores.clone()
    final[indices[len(alone):]] = torch.cat([scores[:0], *(dets[:, 4] for dets, _ in every)])
    # The box of the greatest score alone may be below min_score.
    reaches = ~(final < numbers[2])
    ranked = final.nan_to_num(float("-inf"), posinf=float("inf"), neginf=float("-inf"))
    indices = best_first(indices, ranked)
    indices = torch.cat([indices[:1], indices[1:][reaches[indices[1:]]]])
    return torch.cat([boxes, final.unsqueeze(1)], 1)[indices], indices


_soft_nms_of_groups = group_operator(
    "soft_nms_of_groups(Tensor boxes, Tensor scores, Tensor groups, float iou_threshold, float sigma, float min_score, "
    "int method, int offset) -> (Tensor, Tensor, Tensor)", _soft_groups_fake, _softened_of_groups)


def soft_nms_of_groups(boxes: Tensor, scores: Tensor, groups: Tensor, iou_threshold: float = 0.3, sigma: float = 0.5,
                       min_score: float = 1e-3, method: str = "linear", offset: int = 0) -> Tuple[Tensor, Tensor]:
    """soft_nms of each group: dets T [K, 5], best new score first, equal ones by index, and indices int64 [K]."""
    boxes, scores = floats(boxes=boxes, scores=scores)
    return _soft_nms_of_groups(boxes, scores, group_tensor("idxs", groups, boxes), float(iou_threshold), float(sigma),
                               float(min_score), named("method", method, *_METHODS), integer("offset", offset))


# ---- public


@renamed(iou_thr="iou_threshold")
def nms(boxes: Tensor, scores: Tensor, iou_threshold: float, offset: int = 0, score_threshold: float = 0.0,
        max_num: int = -1) -> Tuple[Tensor, Tensor]:
    """Keeps each box, best score first, whose IoU with every box kept before is not greater than iou_threshold.

    Args:
        boxes: T [N, 4]: x1, y1, x2, y2.
        scores: T [N]; of equal scores the lower index comes first.
        iou_threshold: see above.
        offset: 0 or 1: a box is x2 - x1 + offset wide, and likewise high.
        score_threshold: if > 0, only boxes with a greater score are looked at.
        max_num: if > 0, the most boxes kept.
    Returns: dets T [K, 5], the kept boxes and their scores (differentiable in both), and indices int64 [K].

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. K is read from the data (docs/python.md). Source: mmcv's nms.
    """
    indices = kept(boxes, scores, iou_threshold, offset, score_threshold, max_num)
    return torch.cat([boxes.index_select(0, indices), scores.index_select(0, indices).unsqueeze(1)], 1), indices


@renamed(iou_thr="iou_threshold")
def soft_nms(boxes: Tensor, scores: Tensor, iou_threshold: float = 0.3, sigma: float = 0.5, min_score: float = 1e-3,
             method: str = "linear", offset: int = 0) -> Tuple[Tensor, Tensor]:
    """Takes the box of the greatest score, lowers the scores of the others by their IoU with it, drops those that fall
    below min_score, and goes on until none is left. The first box is taken whatever its score, as in mmcv.

    Args:
        boxes: T [N, 4]: x1, y1, x2, y2.
        scores: T [N].
        iou_threshold, sigma, min_score: see method and above; sigma is read by "gaussian" only.
        method: what a score is multiplied by: "naive" 0 and "linear" 1 - IoU where IoU >= iou_threshold; "gaussian"
            exp(-IoU^2 / sigma).
        offset: 0 or 1, as in nms.
    Returns: dets T [K, 5], the boxes in the order taken with their new scores, and indices int64 [K]. Not
    differentiable.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted.
    Source: Bodla et al., "Soft-NMS", ICCV 2017; mmcv's soft_nms.
    """
    return softened(boxes, scores, iou_threshold, sigma, min_score, named("method", method, *_METHODS), offset)


def nms_match(dets: Tensor, iou_threshold: float) -> List[Tensor]:
    """Groups boxes: each belongs to the best box kept before it whose IoU with it is at least iou_threshold, or is kept
    itself.

    Args:
        dets: T [N, 5]: x1, y1, x2, y2, score.
    Returns: one int64 tensor of indices for each kept box, best first: the box itself, then those it suppresses, by
    score.

    T: float16, bfloat16, float32, float64. Source: mmcv's nms_match.
    """
    indices, sizes, count = _nms_match(*floats(dets=dets), float(iou_threshold))
    return list(indices.split(sizes[:int(count)].tolist())) if int(count) else []


SMALLEST = {"nms": lambda ones, zeros: nms(ones(1, 4), ones(1), 0.5)}
