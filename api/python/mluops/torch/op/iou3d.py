"""iou3d: overlaps of rotated boxes seen from above, and non-maximum suppression by them."""

import torch
from torch import Tensor

from ..._errors import bad_param
from ..._function import ADDRESS, ARRAY, FLOAT, INT, CFunction
from ..._shapes import expect, rank
from .. import _eager
from .._counts import first
from .._operator import no_derivative, no_tangents, operator
from .._tensors import floats, run
from .diff_iou_rotated import shared_area

__all__ = ["boxes_iou3d", "boxes_overlap_bev", "nms3d", "nms3d_normal"]

OVERLAP = CFunction("mluOpExtBoxesOverlapBev", ARRAY("boxes_a"), ARRAY("boxes_b"), ARRAY("overlap"))
NMS3D = CFunction("mluOpExtNms3d", ARRAY("boxes"), FLOAT("iou_threshold"), INT("rotated"), ARRAY("keep"),
                  ADDRESS("num_out"))


def _count(name, boxes):
    n, _ = rank(name, boxes.shape, 2)
    expect(name, boxes.shape, (n, 7), ("", "x, y, z, dx, dy, dz, rz"))
    return n


def _overlap_fake(boxes_a, boxes_b):
    return boxes_a.new_empty((_count("boxes_a", boxes_a), _count("boxes_b", boxes_b)))


def _nms_fake(boxes, iou_threshold, rotated):
    return boxes.new_empty((_count("boxes", boxes),), dtype=torch.int32), boxes.new_empty((1,), dtype=torch.int32)


def _nms_call(outputs, boxes, iou_threshold, rotated):
    keep, count = outputs
    return run(NMS3D, boxes, iou_threshold, int(rotated), keep, count)


overlap = operator("boxes_overlap_bev(Tensor boxes_a, Tensor boxes_b) -> Tensor", _overlap_fake,
                   lambda output, boxes_a, boxes_b: run(OVERLAP, boxes_a, boxes_b, output),
                   setup=no_derivative, jvp=no_tangents)
# How many boxes are kept is in the data: the operator returns as many as there may be, and how many there are.
_nms3d = operator("nms3d(Tensor boxes, float iou_threshold, bool rotated) -> (Tensor, Tensor)", _nms_fake, _nms_call,
                  setup=no_derivative, jvp=no_tangents)


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


def _area_with_gradient(boxes_a: Tensor, boxes_b: Tensor) -> Tensor:
    """overlap, differentiable: the pairs that share something have the derivative of the exact area."""
    area = overlap(boxes_a, boxes_b)
    if not _eager.wants_gradient((boxes_a, boxes_b)):
        return area
    i, j = (area > 0).nonzero().unbind(1)
    exact = shared_area(boxes_a[i][:, _FROM_ABOVE], boxes_b[j][:, _FROM_ABOVE])
    return area.index_put((i, j), area[i, j] + (exact - exact.detach()))


def boxes_iou3d(boxes_a: Tensor, boxes_b: Tensor) -> Tensor:
    """The volume that boxes share over that of both together.

    Args:
        boxes_a: T [N, 7]; x, y, z, dx, dy, dz, rotation about z; z is the centre.
        boxes_b: T [M, 7].
    Returns: T [N, M], differentiable in both.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's boxes_iou3d, whose gradient takes the
    area seen from above for a constant.
    """
    a, b = floats(boxes_a=boxes_a, boxes_b=boxes_b)
    area = _area_with_gradient(a, b)
    top = torch.min((a[:, 2] + a[:, 5] / 2)[:, None], (b[:, 2] + b[:, 5] / 2)[None])
    bottom = torch.max((a[:, 2] - a[:, 5] / 2)[:, None], (b[:, 2] - b[:, 5] / 2)[None])
    shared = area * (top - bottom).clamp(min=0)
    volumes = a[:, 3:6].prod(1)[:, None] + b[:, 3:6].prod(1)[None]
    return shared / (volumes - shared).clamp(min=1e-6)


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

    T: float16, bfloat16, float32, float64. K is read from the data (docs/python.md, "Sizes").
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


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"boxes_overlap_bev": lambda ones, zeros: boxes_overlap_bev(ones(1, 7), ones(1, 7)),
            "nms3d": lambda ones, zeros: nms3d(ones(1, 7), ones(1), 0.5)}
