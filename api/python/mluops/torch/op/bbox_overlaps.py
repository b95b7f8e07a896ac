"""bbox_overlaps: IoU of upright boxes."""

from typing import Callable

import torch
from torch import Tensor

from ..._functions.box_iou import BBOX_OVERLAPS as OVERLAPS
from .. import _eager
from .._batched import one_by_one
from .._blocks import bad_param, floats, named, no_derivative, no_tangents, operator, run
from .rotated import MODES, pairs

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


_BLOCK = 1 << 15  # pairs whose gradients are computed together: few enough for the second cache


def _side(low1: Tensor, low2: Tensor, high1: Tensor, high2: Tensor, offset: int) -> Tensor:
    """One side of the areas that boxes share."""
    return torch.min(high1, high2).sub_(torch.max(low1, low2)).add_(offset).clamp_(min=0)


def _share(mine: Tensor, others: Tensor) -> Tensor:
    """1 where `mine` is greater, 0 where it is smaller; of equal coordinates each box gets half of the gradient."""
    return torch.heaviside(mine - others, mine.new_full((), 0.5))


def _add_gradients(grad: Tensor, first: tuple, second: tuple, mode: int, offset: int, sums: tuple) -> None:
    """Adds the gradients of a block of pairs. first, second: x1, y1, x2, y2 and the area of boxes, of shapes that give
    that of `grad` together. sums[i](k, values) adds to coordinate k of the i-th boxes; k = 4: to their area."""
    sides = [_side(first[k], second[k], first[k + 2], second[k + 2], offset) for k in (0, 1)]
    shared = sides[0] * sides[1]
    whole = first[4] if mode else (first[4] + second[4]).sub_(shared)
    none = shared <= 0
    of_shared = torch.div(grad, whole).masked_fill_(none, 0)
    of_area = shared.div_(whole).masked_fill_(none, 0).mul_(of_shared)
    sums[0](4, of_area)
    if not mode:
        of_shared += of_area
        sums[1](4, of_area)
    for k in (0, 1):
        of_side = of_shared * sides[1 - k]
        for corner, inner, outer in ((k, first, second), (k + 2, second, first)):
            part = _share(inner[corner], outer[corner]).mul_(of_side)  # where the first boxes' corner is the limit
            sums[0](corner, part)
            sums[1](corner, of_side - part)


def _to_boxes(sums: Tensor, boxes: Tensor, offset: int) -> Tensor:
    """The gradient of boxes. sums [5, N]: of the sides' ends as sides grow with them, less that of the area."""
    width, height = boxes[2] - boxes[0] + offset, boxes[3] - boxes[1] + offset
    of_x, of_y = sums[4] * height, sums[4] * width
    return torch.stack([of_x - sums[0], of_y - sums[1], sums[2] - of_x, sums[3] - of_y], 1)


def _gradients(grad: Tensor, bboxes1: Tensor, bboxes2: Tensor, mode: int, aligned: bool, offset: int) -> tuple:
    """The gradients of both boxes, a block of pairs after the other."""
    dtype = bboxes1.dtype
    if dtype in (torch.float16, torch.bfloat16):
        grad, bboxes1, bboxes2 = grad.float(), bboxes1.float(), bboxes2.float()
    boxes = [each.t().contiguous() for each in (bboxes1, bboxes2)]
    both = [(*each, (each[2] - each[0] + offset) * (each[3] - each[1] + offset)) for each in boxes]
    sums = [each.new_zeros(5, each.shape[1]) for each in boxes]
    rows = _BLOCK if aligned else max(1, _BLOCK // max(1, len(bboxes2)))
    for begin in range(0, len(bboxes1), rows):
        some = slice(begin, begin + rows)
        first = tuple(each[some] if aligned else each[some, None] for each in both[0])
        second = tuple(each[some] for each in both[1]) if aligned else both[1]

        def of_first(k: int, values: Tensor) -> None:
            sums[0][k, some] = values if aligned else values.sum(1)

        def of_second(k: int, values: Tensor) -> None:
            if aligned:
                sums[1][k, some] = values
            else:
                sums[1][k] += values.sum(0)

        _add_gradients(grad[some], first, second, mode, offset, (of_first, of_second))
    return tuple(_to_boxes(each, at, offset).to(dtype) for each, at in zip(sums, boxes))


class _Overlaps(torch.autograd.Function):
    """The kernel, and its gradient without the intermediate tensors of the composition."""

    @staticmethod
    def forward(ctx, first, second, *numbers):
        ctx.save_for_backward(first, second)
        ctx.numbers = numbers
        return overlaps(first, second, *numbers)

    @staticmethod
    @one_by_one
    def backward(ctx, grad):
        boxes = ctx.saved_tensors
        if not torch.is_grad_enabled():
            return (*_gradients(grad, *boxes, *ctx.numbers), None, None, None)
        wanted = [each for each, wants in zip(boxes, ctx.needs_input_grad) if wants]
        found = iter(torch.autograd.grad(_differentiable(*boxes, *ctx.numbers), wanted, grad, create_graph=True))
        return (*(next(found) if wants else None for wants in ctx.needs_input_grad[:2]), None, None, None)


def _compute(boxes: tuple) -> Callable:
    if not _eager.wants_gradient(boxes):
        return overlaps
    return _Overlaps.apply if _eager.plain(boxes) and not _eager.forward_mode() else _differentiable


def bbox_overlaps(bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False,
                  offset: int = 0) -> Tensor:
    """IoU of upright boxes.

    Args:
        bboxes1: T [N, 4]; x1, y1, x2, y2.
        bboxes2: T [M, 4].
        mode: "iou", or "iof": shared area over that of the first.
        aligned: one by one instead of each with each; M is N.
        offset: 0, or 1: sizes are x2 - x1 + 1, those of pixels.
    Returns: T [N, M], or [N] if aligned; 0 where nothing is shared. Differentiable in both; double
        backward, forward mode and compiled graphs use a composition of torch operators.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are computed in float.
    Source: mmcv's bbox_overlaps.
    """
    boxes = tuple(floats(bboxes1=bboxes1, bboxes2=bboxes2))
    return _compute(boxes)(*boxes, named("mode", mode, *MODES), bool(aligned), offset)


SMALLEST = {"bbox_overlaps": lambda ones, zeros: bbox_overlaps(ones(1, 4), ones(1, 4))}
