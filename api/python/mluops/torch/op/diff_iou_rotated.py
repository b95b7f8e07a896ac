"""IoU of rotated rectangles and boxes that gradients flow through."""

from typing import Tuple

import torch
from torch import Tensor

from ..._errors import bad_param
from ..._function import ARRAY, CFunction
from ..._shapes import expect, rank
from .._integers import int32
from .._operator import no_derivative, no_tangents, operator
from .._tensors import floats, run

__all__ = ["diff_iou_rotated_2d", "diff_iou_rotated_3d"]

SORT = CFunction("mluOpDiffIouRotatedSortVerticesForward", ARRAY("vertices"), ARRAY("mask"), ARRAY("num_valid"),
                 ARRAY("idx"))

_TINY = 1e-8


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


def _corners(box: Tensor) -> Tensor:
    """[..., 4, 2] of rectangles x, y, w, h, turn, [..., 5]."""
    x, y, w, h, turn = (each.unsqueeze(-1) for each in box.unbind(-1))
    along = box.new_tensor([0.5, -0.5, -0.5, 0.5]) * w
    across = box.new_tensor([0.5, 0.5, -0.5, -0.5]) * h
    sine, cosine = turn.sin(), turn.cos()
    return torch.stack([x + along * cosine - across * sine, y + along * sine + across * cosine], -1)


def _crossings(first: Tensor, second: Tensor) -> Tuple[Tensor, Tensor]:
    """Where sides cross: [..., 4, 4, 2], zeros where they do not, and whether they do. Sides that lie on each other do
    not."""
    a, b = first.unsqueeze(-2), first.roll(-1, -2).unsqueeze(-2)
    c, d = second.unsqueeze(-3), second.roll(-1, -2).unsqueeze(-3)
    ab, cd, ac = a - b, c - d, a - c

    def cross(p: Tensor, q: Tensor) -> Tensor:
        return p[..., 0] * q[..., 1] - p[..., 1] * q[..., 0]

    area = cross(ab, cd)
    t, u = cross(ac, cd) / area, -cross(ab, ac) / area
    meet = (area != 0) & (t > 0) & (t < 1) & (u > 0) & (u < 1)
    stable = (cross(ac, cd) / (area + _TINY)).unsqueeze(-1)
    return (a - stable * ab) * meet.unsqueeze(-1).to(a.dtype), meet


def _inside(corners: Tensor, other: Tensor) -> Tensor:
    """Which corners of rectangles lie in the other ones, sides included."""
    origin = other[..., :1, :]
    inside = torch.ones((), dtype=torch.bool)
    for i in (1, 3):
        side = other[..., i:i + 1, :] - origin
        part = (side * (corners - origin)).sum(-1) / (side * side).sum(-1)
        inside = inside & (part > -1e-6) & (part < 1 + 1e-6)
    return inside


def _intersection(first: Tensor, second: Tensor) -> Tensor:
    """Area of the intersection of rectangles [B, N, 5]."""
    corners1, corners2 = _corners(first), _corners(second)
    crossings, meet = _crossings(corners1, corners2)
    vertices = torch.cat([corners1, corners2, crossings.flatten(2, 3)], 2)
    mask = torch.cat([_inside(corners1, corners2), _inside(corners2, corners1), meet.flatten(2)], 2)
    count = mask.sum(2)
    with torch.no_grad():
        mean = (vertices * mask.unsqueeze(-1).to(vertices.dtype)).sum(2, True) / count[..., None, None]
        order = sort_vertices((vertices - mean).contiguous(), mask, int32("num_valid", count)).long()
    x, y = vertices.gather(2, order.unsqueeze(-1).expand(-1, -1, -1, 2)).unbind(-1)
    return (x[..., :-1] * y[..., 1:] - y[..., :-1] * x[..., 1:]).sum(2).abs() / 2


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
        box1, box2: T [B, N, 5]; x, y, w, h, turn.
    Returns: T [B, N], differentiable in both.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's diff_iou_rotated_2d.
    """
    dtype, (box1, box2) = _pairs(box1, box2, 5, "x, y, w, h, turn")
    common = _intersection(box1, box2)
    return (common / (box1[..., 2] * box1[..., 3] + box2[..., 2] * box2[..., 3] - common)).to(dtype)


def diff_iou_rotated_3d(box3d1: Tensor, box3d2: Tensor) -> Tensor:
    """IoU of boxes turned about z, one by one.

    Args:
        box3d1, box3d2: T [B, N, 7]; x, y, z, w, h, l, turn; z is the centre.
    Returns: T [B, N], differentiable in both.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's diff_iou_rotated_3d.
    """
    dtype, boxes = _pairs(box3d1, box3d2, 7, "x, y, z, w, h, l, turn")
    flat = (box[..., [0, 1, 3, 4, 6]] for box in boxes)
    tops, bottoms = ([box[..., 2] + sign * box[..., 5] * 0.5 for box in boxes] for sign in (1, -1))
    height = (torch.min(*tops) - torch.max(*bottoms)).clamp(min=0)
    common = _intersection(*flat) * height
    volumes = [box[..., 3] * box[..., 4] * box[..., 5] for box in boxes]
    return (common / (volumes[0] + volumes[1] - common)).to(dtype)


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"diff_iou_rotated_sort_vertices": lambda ones, zeros: diff_iou_rotated_2d(ones(1, 1, 5), ones(1, 1, 5))}
