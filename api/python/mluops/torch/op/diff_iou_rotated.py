"""IoU of rotated rectangles and boxes that gradients flow through."""

from typing import Tuple

import torch
from torch import Tensor

from ..._errors import bad_param
from ..._function import ARRAY, CFunction
from ..._shapes import expect, rank
from .._operator import no_derivative, no_tangents, operator
from .._tensors import floats, run
from .rotated import iou

__all__ = ["diff_iou_rotated_2d", "diff_iou_rotated_3d"]

SORT = CFunction("mluOpDiffIouRotatedSortVerticesForward", ARRAY("vertices"), ARRAY("mask"), ARRAY("num_valid"),
                 ARRAY("idx"))

def _fake(vertices, mask, num_valid):
    batch, n, _, _ = rank("vertices", vertices.shape, 4)
    expect("vertices", vertices.shape, (batch, n, 24, 2), ("", "", "corners and intersections", "x and y"))
    expect("mask", mask.shape, (batch, n, 24), ("that of vertices",) * 3)
    expect("num_valid", num_valid.shape, (batch, n), ("that of vertices",) * 2)
    if mask.dtype != torch.bool:
        raise bad_param("mask", "a tensor of torch.bool", mask.dtype)
    return num_valid.new_empty((batch, n, 9))


sort_vertices = operator("diff_iou_rotated_sort_vertices(Tensor vertices, Tensor mask, Tensor num_valid) -> Tensor", _fake,
                         lambda idx, *inputs: run(SORT, *inputs, idx), setup=no_derivative, jvp=no_tangents)


# ---- the area two rectangles share, in double


class _Rectangles:
    """Rectangles x, y, w, h, angle, [..., 5]; of a size below 0 its amount counts."""

    def __init__(self, box: Tensor) -> None:
        box = box.double()
        self.center, self.half, angle = box[..., :2], box[..., 2:4].abs() / 2, box[..., 4]
        self.sign = box[..., 2:4].sign()
        along = torch.stack([angle.cos(), angle.sin()], -1)
        across = torch.stack([-along[..., 1], along[..., 0]], -1)
        self.axes = torch.stack([along, across], -2)  # [..., 2, 2], an axis in a row
        self.signs = box.new_tensor([[1, 1], [-1, 1], [-1, -1], [1, -1]])  # of the corners, counterclockwise
        self.corners = self.center.unsqueeze(-2) + (self.signs * self.half.unsqueeze(-2)) @ self.axes

    def frame(self, points: Tensor) -> Tensor:
        """Points [..., 4, 2] along the own axes, from the centre."""
        return (points - self.center.unsqueeze(-2)) @ self.axes.transpose(-1, -2)

    def gradient(self, of_corners: Tensor) -> Tensor:
        """That of x, y, w, h, angle, given that of the corners."""
        own = of_corners @ self.axes.transpose(-1, -2)
        sizes = (own * self.signs).sum(-2) / 2 * self.sign
        arms = self.corners - self.center.unsqueeze(-2)
        angle = (arms[..., 0] * of_corners[..., 1] - arms[..., 1] * of_corners[..., 0]).sum(-1, keepdim=True)
        return torch.cat([of_corners.sum(-2), sizes, angle], -1)


def _moved_corners(first: _Rectangles, second: _Rectangles) -> Tensor:
    """The derivative of the shared area by the corners of the first rectangle, [..., 4, 2]: the parts of its sides that
    are inside of the second one move the area's border. A side on one of the second counts half: that is the mean of
    both directions."""
    begin = second.frame(first.corners)
    limit = second.half.unsqueeze(-2)
    inside = torch.cat([limit - begin, limit + begin], -1)  # distances from the sides of the second
    after = inside.roll(-1, -2)
    size = (limit.abs() + begin.abs()).amax((-1, -2), keepdim=True)
    along = torch.max(inside.abs(), after.abs()) <= 64 * torch.finfo(torch.float64).eps * size
    crossing = inside / torch.where(inside == after, torch.ones_like(inside), inside - after)
    zero, one = torch.zeros_like(inside), torch.ones_like(inside)
    low = torch.where((inside < 0) & ~along, torch.where(after < 0, one, crossing), zero).amax(-1)
    high = torch.where((after < 0) & ~along, torch.where(inside < 0, zero, crossing), one).amin(-1)
    high = torch.max(low, high)
    share = 0.5 ** along.any(-1).double()
    side = first.corners.roll(-1, -2) - first.corners
    outwards = torch.stack([side[..., 1], -side[..., 0]], -1)
    to_end = share * (high ** 2 - low ** 2) / 2
    to_begin = share * (high - low) - to_end
    return outwards * to_begin.unsqueeze(-1) + (outwards * to_end.unsqueeze(-1)).roll(1, -2)


def _area_fake(box1, box2):
    expect("box2", box2.shape, box1.shape, ("that of box1",) * box1.dim())
    expect("box1", box1.shape[-1:], (5,), ("x, y, w, h, angle",))
    return box1.new_empty(box1.shape[:-1])


def _area_call(area, box1, box2):
    """Out of box_iou_rotated, which knows no sizes below 0 and none whose squares are lost beside 1."""
    boxes = torch.stack([box1, box2]).double().reshape(2, -1, 5)
    sizes = boxes[..., 2:4].abs_()
    scale = sizes.amax((0, 2)).clamp(min=1e-150)
    boxes[..., :4].div_(scale[:, None])
    ratio = iou(*boxes, 0, True)
    area.copy_((ratio / (1 + ratio) * sizes.prod(2).sum(0) * scale * scale).reshape(area.shape))


def _area_gradient_fake(grad, box1, box2):
    expect("grad", grad.shape, box1.shape[:-1], ("that of box1",) * grad.dim())
    return box1.new_empty(box1.shape), box1.new_empty(box1.shape)


def _area_gradient_call(outputs, grad, box1, box2):
    one, two = _Rectangles(box1), _Rectangles(box2)
    for output, own, other in zip(outputs, (one, two), (two, one)):
        output.copy_(own.gradient(_moved_corners(own, other)) * grad.unsqueeze(-1))


_area_gradient = operator("rectangles_overlap_backward(Tensor grad, Tensor box1, Tensor box2) -> (Tensor, Tensor)",
                          _area_gradient_fake, _area_gradient_call)


def _area_jvp(inputs, output, tangents):
    gradients = _area_gradient(torch.ones_like(output), *inputs)
    return sum((each * tangent).sum(-1) for each, tangent in zip(gradients, tangents) if tangent is not None)


shared_area = operator("rectangles_overlap(Tensor box1, Tensor box2) -> Tensor", _area_fake, _area_call,
                       setup=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
                       backward=lambda ctx, grad: _area_gradient(grad, *ctx.saved_tensors), jvp=_area_jvp)


def _ratio(common: Tensor, both: Tensor) -> Tensor:
    """Shared over united; 0 of boxes of no size."""
    united = both - common
    return common / torch.where(united > 0, united, torch.ones_like(united))


def _pairs(box1: Tensor, box2: Tensor, numbers: int, meaning: str) -> Tuple[torch.dtype, list]:
    """The boxes and their dtype; narrow ones as float, in which older torch has more functions."""
    boxes = floats(box1=box1, box2=box2)
    for name, box in zip(("box1", "box2"), boxes):
        rank(name, box.shape, 3)
        expect(name, box.shape, (*boxes[0].shape[:2], numbers), ("the batch of box1", "the boxes of box1", meaning))
    dtype = boxes[0].dtype
    return dtype, [box.to(torch.promote_types(dtype, torch.float32)) for box in boxes]


def diff_iou_rotated_2d(box1: Tensor, box2: Tensor) -> Tensor:
    """IoU of rotated rectangles, one by one.

    Args:
        box1, box2: T [B, N, 5]; x, y, w, h, angle.
    Returns: T [B, N], differentiable in both; 0 of boxes of no size. Where sides lie on each other, the derivative is the
    mean of those of both directions.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Areas are computed in float64, by another way than
    that of mmcv's diff_iou_rotated_2d, which is wrong where sides lie on each other.
    """
    dtype, (box1, box2) = _pairs(box1, box2, 5, "x, y, w, h, angle")
    areas = box1[..., 2] * box1[..., 3] + box2[..., 2] * box2[..., 3]
    return _ratio(shared_area(box1, box2), areas).to(dtype)


def diff_iou_rotated_3d(box3d1: Tensor, box3d2: Tensor) -> Tensor:
    """IoU of boxes rotated about z, one by one.

    Args:
        box3d1, box3d2: T [B, N, 7]; x, y, z, w, h, l, angle; z is the centre.
    Returns: T [B, N], differentiable in both; as diff_iou_rotated_2d.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted.
    """
    dtype, boxes = _pairs(box3d1, box3d2, 7, "x, y, z, w, h, l, angle")
    flat = (torch.cat([box[..., :2], box[..., 3:5], box[..., 6:]], -1) for box in boxes)
    tops, bottoms = ([box[..., 2] + sign * box[..., 5] * 0.5 for box in boxes] for sign in (1, -1))
    height = (torch.min(*tops) - torch.max(*bottoms)).clamp(min=0)
    volumes = [box[..., 3] * box[..., 4] * box[..., 5] for box in boxes]
    return _ratio(shared_area(*flat) * height, sum(volumes)).to(dtype)


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"diff_iou_rotated_sort_vertices": lambda ones, zeros: sort_vertices(ones(1, 1, 24, 2), ones(1, 1, 24) > 0,
                                                                               zeros(1, 1)),
            "rectangles_overlap": lambda ones, zeros: diff_iou_rotated_2d(ones(1, 1, 5), ones(1, 1, 5))}
