"""bbox_overlaps: IoU of upright boxes. A composition of torch operators, no kernel of the library."""

import torch
from torch import Tensor

from ..._errors import bad_param
from ..._shapes import expect, rank
from .._tensors import floats

__all__ = ["bbox_overlaps"]


def bbox_overlaps(bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False,
                  offset: int = 0) -> Tensor:
    """IoU of upright boxes. Composed of torch operators.

    Args:
        bboxes1: T [N, 4]; x1, y1, x2, y2.
        bboxes2: T [M, 4].
        mode: "iou", or "iof": shared area over that of the first.
        aligned: one by one instead of each with each; M is N.
        offset: 0, or 1: sizes are x2 - x1 + 1, those of pixels.
    Returns: T [N, M], or [N] if aligned; 0 where nothing is shared. Differentiable in both.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are computed in float.
    Source: mmcv's bbox_overlaps.
    """
    if mode not in ("iou", "iof"):
        raise bad_param("mode", "iou or iof", mode)
    if offset not in (0, 1):
        raise bad_param("offset", "0 or 1", offset)
    first, second = floats(bboxes1=bboxes1, bboxes2=bboxes2)
    for name, boxes in (("bboxes1", first), ("bboxes2", second)):
        rank(name, boxes.shape, 2)
        expect(name, boxes.shape, (boxes.shape[0], 4), ("", "x1, y1, x2, y2"))
    if aligned:
        expect("bboxes2", second.shape, first.shape, ("the boxes of bboxes1", ""))
    dtype = first.dtype
    if dtype in (torch.float16, torch.bfloat16):
        first, second = first.float(), second.float()
    areas = [(each[:, 2:] - each[:, :2] + offset).prod(1) for each in (first, second)]
    if not aligned:
        first, areas[0] = first[:, None], areas[0][:, None]
    low, high = torch.max(first[..., :2], second[:, :2]), torch.min(first[..., 2:], second[:, 2:])
    shared = (high - low + offset).clamp(min=0).prod(-1)
    whole = areas[0] if mode == "iof" else areas[0] + areas[1] - shared
    some = shared > 0
    return torch.where(some, shared / torch.where(some, whole, torch.ones_like(shared)),
                       torch.zeros_like(shared)).to(dtype)


SMALLEST: dict = {}  # no operator of the library
