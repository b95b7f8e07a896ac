"""bbox_overlaps: IoU of upright boxes."""

import torch
from torch import Tensor

from ..._errors import bad_param
from ..._functions.box_iou import BBOX_OVERLAPS as OVERLAPS
from .. import _eager
from .._operator import no_derivative, no_tangents, operator
from .._tensors import floats, run
from .rotated import mode_number, pairs

__all__ = ["bbox_overlaps"]


def _fake(bboxes1, bboxes2, mode, aligned, offset):
    if offset not in (0, 1):
        raise bad_param("offset", "0 or 1", offset)
    return pairs(bboxes1, bboxes2, aligned, "x1, y1, x2, y2")


overlaps = operator("bbox_overlaps(Tensor bboxes1, Tensor bboxes2, int mode, bool aligned, int offset) -> Tensor", _fake,
                    lambda ious, bboxes1, bboxes2, *numbers: run(OVERLAPS, *numbers, bboxes1, bboxes2, ious),
                    setup=no_derivative, jvp=no_tangents)


def _differentiable(first: Tensor, second: Tensor, mode: int, aligned: bool, offset: int) -> Tensor:
    """Composed of torch operators."""
    _fake(first, second, mode, aligned, offset)
    dtype = first.dtype
    if dtype in (torch.float16, torch.bfloat16):
        first, second = first.float(), second.float()
    areas = [(each[:, 2:] - each[:, :2] + offset).prod(1) for each in (first, second)]
    if not aligned:
        first, areas[0] = first[:, None], areas[0][:, None]
    low, high = torch.max(first[..., :2], second[:, :2]), torch.min(first[..., 2:], second[:, 2:])
    shared = (high - low + offset).clamp(min=0).prod(-1)
    whole = areas[0] if mode else areas[0] + areas[1] - shared
    some = shared > 0
    return torch.where(some, shared / torch.where(some, whole, torch.ones_like(shared)),
                       torch.zeros_like(shared)).to(dtype)


def bbox_overlaps(bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False,
                  offset: int = 0) -> Tensor:
    """IoU of upright boxes.

    Args:
        bboxes1: T [N, 4]; x1, y1, x2, y2.
        bboxes2: T [M, 4].
        mode: "iou", or "iof": shared area over that of the first.
        aligned: one by one instead of each with each; M is N.
        offset: 0, or 1: sizes are x2 - x1 + 1, those of pixels.
    Returns: T [N, M], or [N] if aligned; 0 where nothing is shared. Differentiable in both, where gradients are wanted
        composed of torch operators.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are computed in float.
    Source: mmcv's bbox_overlaps.
    """
    boxes = floats(bboxes1=bboxes1, bboxes2=bboxes2)
    compute = _differentiable if _eager.wants_gradient(tuple(boxes)) else overlaps
    return compute(*boxes, mode_number(mode), bool(aligned), offset)


SMALLEST = {"bbox_overlaps": lambda ones, zeros: bbox_overlaps(ones(1, 4), ones(1, 4))}
