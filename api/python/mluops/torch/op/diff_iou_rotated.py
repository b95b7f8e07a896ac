"""IoU of rotated rectangles and boxes that gradients flow through."""

import torch
from torch import Tensor

from ..._functions.diff_iou_rotated import DIFF_IOU_ROTATED_SORT_VERTICES as SORT
from ..._functions.rotated_iou import ROTATED_IOU_BACKWARD as BACKWARD, ROTATED_IOU_FORWARD as FORWARD
from .._blocks import described, expect, floats, rank

__all__ = ["diff_iou_rotated_2d", "diff_iou_rotated_3d"]


sort_vertices = described("diff_iou_rotated_sort_vertices(vertices, mask, num_valid)", SORT)


_RECTANGLE, _BOX = "x, y, w, h, angle", "x, y, z, w, h, l, angle"


def _expect_pairs(box1, box2, numbers, meaning):
    shape = *rank("box1", box1.shape, 3)[:2], numbers
    expect("box1", box1.shape, shape, ("", "", meaning))
    expect("box2", box2.shape, shape, ("the batch of box1", "the boxes of box1", meaning))


def _jvp(inputs, output, tangents):
    gradients = pair_iou_gradient(torch.ones_like(output), *inputs)
    return sum((each * tangent).sum(-1) for each, tangent in zip(gradients, tangents) if tangent is not None)


def _rectangles_or_boxes(batch, pairs, numbers):
    if numbers not in (5, 7):
        expect("box1", (batch, pairs, numbers), (batch, pairs, 7), ("", "", f"{_BOX}, or 5: {_RECTANGLE}"))


pair_iou_gradient = described("rotated_iou_backward(grad, box1, box2)", BACKWARD, rule=_rectangles_or_boxes)
pair_iou = described("rotated_iou(box1, box2)", FORWARD, rule=_rectangles_or_boxes, gradient=pair_iou_gradient,
                     jvp=_jvp)


def shared_area(box1: Tensor, box2: Tensor) -> Tensor:
    """The areas that rectangles T [..., 5] share one by one, T [...], out of their IoU; differentiable. Of a size below
    0 its amount counts. Halves are computed in float."""
    boxes = [box.to(torch.promote_types(box.dtype, torch.float32)) for box in (box1, box2)]
    boxes = [torch.cat([box[..., :2], box[..., 2:4].abs(), box[..., 4:]], -1) for box in boxes]
    ious = pair_iou(*(box.reshape(1, -1, 5) for box in boxes)).reshape(box1.shape[:-1])
    return (ious / (1 + ious) * sum(box[..., 2] * box[..., 3] for box in boxes)).to(box1.dtype)


def _ious(box1: Tensor, box2: Tensor, numbers: int, meaning: str) -> Tensor:
    box1, box2 = floats(box1=box1, box2=box2)
    _expect_pairs(box1, box2, numbers, meaning)
    return pair_iou(box1, box2)


def diff_iou_rotated_2d(box1: Tensor, box2: Tensor) -> Tensor:
    """IoU of rotated rectangles, one by one.

    Args:
        box1, box2: T [B, N, 5]; x, y, w, h, angle.
    Returns: T [B, N], differentiable in both; 0 of boxes of no size or with numbers that are not finite. Where sides
    lie on each other, the derivative is the mean of those of both directions.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; computed in float64, by another way than that of
    mmcv's diff_iou_rotated_2d, which is wrong where sides lie on each other. Source: mluOpExtRotatedIouForward.
    """
    return _ious(box1, box2, 5, _RECTANGLE)


def diff_iou_rotated_3d(box3d1: Tensor, box3d2: Tensor) -> Tensor:
    """IoU of boxes rotated about z, one by one.

    Args:
        box3d1, box3d2: T [B, N, 7]; x, y, z, w, h, l, angle; z is the centre.
    Returns: T [B, N], differentiable in both; as diff_iou_rotated_2d.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted.
    """
    return _ious(box3d1, box3d2, 7, _BOX)
