"""iou3d: overlaps of rotated boxes seen from above, and non-maximum suppression by them."""

from typing import Tuple

import torch
from torch import Tensor

from ..._functions.iou3d import BOXES_OVERLAP_BEV as OVERLAP, NMS3D
from .._blocks import bad_param, described, expect, first, floats, operator, rank
from .diff_iou_rotated import pair_iou, pair_iou_gradient, shared_area

__all__ = ["boxes_iou3d", "boxes_overlap_bev", "nms3d", "nms3d_normal"]


def _count(name, boxes):
    n, _ = rank(name, boxes.shape, 2)
    expect(name, boxes.shape, (n, 7), ("", "x, y, z, dx, dy, dz, rz"))
    return n


def _overlap_fake(boxes_a, boxes_b):
    return boxes_a.new_empty((_count("boxes_a", boxes_a), _count("boxes_b", boxes_b)))


overlap = described("boxes_overlap_bev(boxes_a, boxes_b)", OVERLAP)
# How many boxes are kept is in the data: the operator returns as many as there may be, and how many there are.
_nms3d = described("nms3d(boxes, iou_threshold, bool rotated)", NMS3D)


def kept(boxes: Tensor, iou_threshold: float, rotated: bool) -> Tensor:
    """Indices int64 of the boxes kept, of boxes that are sorted, best first."""
    keep, count = _nms3d(*floats(boxes=boxes), float(iou_threshold), rotated)
    return first(count, keep)[0].long()


_ROWS = 64  # of a matrix of which only the diagonal is wanted


def paired_overlap(boxes_a: Tensor, boxes_b: Tensor) -> Tensor:
    """The area that each box of boxes_a shares with that of boxes_b in its place: T [N]."""
    expect("boxes_b", boxes_b.shape, boxes_a.shape, ("the number of boxes_a", ""))
    rows = [overlap(boxes_a[i:i + _ROWS], boxes_b[i:i + _ROWS]).diagonal() for i in range(0, len(boxes_a), _ROWS)]
    return torch.cat(rows) if rows else boxes_a.new_zeros(0)


def boxes_overlap_bev(boxes_a: Tensor, boxes_b: Tensor) -> Tensor:
    """The area that each box of boxes_a shares with each of boxes_b, seen from above.

    Args:
        boxes_a: T [N, 7]; x, y, z, dx, dy, dz, rotation about z.
        boxes_b: T [M, 7].
    Returns: T [N, M]. Not differentiable.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's boxes_overlap_bev.
    """
    return overlap(*floats(boxes_a=boxes_a, boxes_b=boxes_b))


_FROM_ABOVE = [0, 1, 3, 4, 6]  # x, y, dx, dy, angle


def _pairs_from_above(boxes_a: Tensor, boxes_b: Tensor) -> Tuple[Tensor, ...]:
    """The pairs that may share something: numbers i and j, and rectangles [P, 5] with their sizes' amounts."""
    i, j = (overlap(boxes_a, boxes_b) > 0).nonzero().unbind(1)
    rectangles = [torch.cat([box[:, :2], box[:, 2:4].abs(), box[:, 4:]], 1)
                  for box in (boxes_a[i][:, _FROM_ABOVE], boxes_b[j][:, _FROM_ABOVE])]
    return (i, j, *rectangles)


def _area_call(area, boxes_a, boxes_b):
    i, j, a, b = _pairs_from_above(boxes_a, boxes_b)
    sizes = [box[:, 2] * box[:, 3] for box in (a, b)]
    shared = torch.minimum(shared_area(a, b), torch.minimum(*sizes))
    area.zero_()[i, j] = torch.where((a == b).all(1), sizes[0], shared)


def _slopes_of_pairs(boxes_a, boxes_b):
    """Numbers i and j of the pairs, and the derivatives [P, 7] of their area, iou / (1 + iou) of the sum of both areas."""
    i, j, a, b = _pairs_from_above(boxes_a, boxes_b)
    ious = pair_iou(a[None], b[None])
    total = a[:, 2] * a[:, 3] + b[:, 2] * b[:, 3]
    slopes = []
    for box, boxes, at, slope in zip((a, b), (boxes_a, boxes_b), (i, j),
                                     pair_iou_gradient(total / (1 + ious) ** 2, a[None], b[None])):
        slope = slope[0]
        slope[:, 2:4] += (ious / (1 + ious)).reshape(-1, 1) * box[:, [3, 2]]
        slope[:, 2:4] *= boxes[at][:, 3:5].sign()
        whole = slope.new_zeros(len(at), 7)
        whole[:, _FROM_ABOVE] = slope
        slopes.append(whole)
    return (i, j, *slopes)


def _area_gradient_fake(grad, boxes_a, boxes_b):
    expect("grad", grad.shape, _overlap_fake(boxes_a, boxes_b).shape, ("the boxes of boxes_a", "the boxes of boxes_b"))
    return boxes_a.new_empty(boxes_a.shape), boxes_b.new_empty(boxes_b.shape)


def _area_gradient_call(outputs, grad, boxes_a, boxes_b):
    i, j, *slopes = _slopes_of_pairs(boxes_a, boxes_b)
    weights = grad[i, j].unsqueeze(1)
    for output, at, slope in zip(outputs, (i, j), slopes):
        output.zero_().index_add_(0, at, weights * slope)


_area_gradient = operator("boxes_area_bev_backward(Tensor grad, Tensor boxes_a, Tensor boxes_b) -> (Tensor, Tensor)",
                          _area_gradient_fake, _area_gradient_call)


def _area_slopes_fake(boxes_a, boxes_b):
    shape = *_overlap_fake(boxes_a, boxes_b).shape, 7
    return boxes_a.new_empty(shape), boxes_a.new_empty(shape)


def _area_slopes_call(outputs, boxes_a, boxes_b):
    i, j, *slopes = _slopes_of_pairs(boxes_a, boxes_b)
    for output, slope in zip(outputs, slopes):
        output.zero_()[i, j] = slope


_area_slopes = operator("boxes_area_bev_slopes(Tensor boxes_a, Tensor boxes_b) -> (Tensor, Tensor)", _area_slopes_fake,
                        _area_slopes_call)


def _area_jvp(inputs, output, tangents):
    along = torch.zeros_like(output)
    for slope, tangent, side in zip(_area_slopes(*inputs), tangents, (1, 0)):
        if tangent is not None:
            along = along + (slope * tangent.unsqueeze(side)).sum(2)
    return along


# The area that boxes share exactly, float64: without the margin of `overlap`, and all of it for a box and itself.
_area = operator("boxes_area_bev(Tensor boxes_a, Tensor boxes_b) -> Tensor", _overlap_fake, _area_call,
                 setup=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
                 backward=lambda ctx, grad: _area_gradient(grad, *ctx.saved_tensors), jvp=_area_jvp)


def boxes_iou3d(boxes_a: Tensor, boxes_b: Tensor) -> Tensor:
    """The volume that boxes share over that of both together: 1 for equal boxes, never more.

    Args:
        boxes_a: T [N, 7]; x, y, z, dx, dy, dz, rotation about z; z is the centre.
        boxes_b: T [M, 7].
    Returns: T [N, M], differentiable in both.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; computed in float64. Source: mmcv's boxes_iou3d, whose
    area seen from above has a margin and the roundings of float, and whose gradient takes that area for a constant.
    """
    dtype = torch.promote_types(boxes_a.dtype, boxes_b.dtype)
    a, b = (box.double() for box in floats(boxes_a=boxes_a, boxes_b=boxes_b))
    area = _area(a, b)
    top = torch.min((a[:, 2] + a[:, 5] / 2)[:, None], (b[:, 2] + b[:, 5] / 2)[None])
    bottom = torch.max((a[:, 2] - a[:, 5] / 2)[:, None], (b[:, 2] - b[:, 5] / 2)[None])
    height = (top - bottom).clamp(min=0)
    equal = (a[:, None, [2, 5]] == b[None, :, [2, 5]]).all(2)
    shared = area * torch.where(equal, torch.min(a[:, None, 5], b[None, :, 5]).clamp(min=0), height)
    volumes = a[:, 3:6].prod(1)[:, None] + b[:, 3:6].prod(1)[None]
    some = shared > 0
    ious = torch.where(some, shared / torch.where(some, volumes - shared, torch.ones_like(shared)), torch.zeros_like(shared))
    return ious.clamp(max=1).to(dtype)


def _suppressed(boxes: Tensor, scores: Tensor, iou_threshold: float, rotated: bool) -> Tensor:
    expect("scores", scores.shape, (_count("boxes", boxes),), ("the number of boxes",))
    if iou_threshold != iou_threshold:
        raise bad_param("iou_threshold", "a number", iou_threshold)
    order = scores.sort(stable=True, descending=True)[1]
    return order[kept(boxes[order], iou_threshold, rotated)]


def nms3d(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Keeps each box, best score first, whose IoU seen from above with every box kept before is not greater than
    iou_threshold.

    Args:
        boxes: T [N, 7]; x, y, z, dx, dy, dz, rotation about z.
        scores: [N].
        iou_threshold: see above.
    Returns: indices int64 [K], best score first.

    T: float16, bfloat16, float32, float64. K is read from the data (docs/python.md).
    Source: mmcv's nms3d.
    """
    return _suppressed(boxes, scores, iou_threshold, True)


def nms3d_normal(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """nms3d of the boxes without their rotation.

    Args:
        boxes, scores, iou_threshold: of nms3d.
    Returns: indices int64 [K], best score first.

    T: float16, bfloat16, float32, float64. Source: mmcv's nms3d_normal.
    """
    return _suppressed(boxes, scores, iou_threshold, False)
