"""BorderAlign: the largest of the samples along each border of a box."""

import torch
from torch import Tensor, nn

from ..._functions.border_align import BORDER_ALIGN_BACKWARD as BACKWARD, BORDER_ALIGN_FORWARD as FORWARD
from .._blocks import bad_param, described, floats, integer, no_tangent
from .._tensors import image_format

__all__ = ["BorderAlign", "border_align"]


def _winners(boxes, argmax, pool_size):
    """y and x of the winning samples: [N, C, 4, K] each."""
    steps = argmax.transpose(2, 3) / pool_size
    x1, y1, x2, y2 = (side[:, None].to(steps.dtype) for side in boxes.unbind(2))
    top, left, bottom, right = steps.unbind(2)
    still = torch.zeros_like(top)
    y = torch.stack([y1 + still, y1 + (y2 - y1) * left, y2 + still, y2 - (y2 - y1) * right], 2)
    x = torch.stack([x1 + (x2 - x1) * top, x1 + still, x2 - (x2 - x1) * bottom, x2 + still], 2)
    return y, x


def _bilinear(planes, y, x):
    """planes [N, C, 4, H, W] at points y, x [N, C, 4, K]; points more than a pixel outside give 0, others are
    clamped."""
    h, w = planes.shape[3:]
    inside = (y >= -1) & (y <= h) & (x >= -1) & (x <= w)
    y, x = y.clamp(0, h - 1), x.clamp(0, w - 1)
    y0, x0 = y.floor().long(), x.floor().long()
    y1, x1 = (y0 + 1).clamp(max=h - 1), (x0 + 1).clamp(max=w - 1)
    flat, down, right = planes.flatten(3), y - y0, x - x0
    value = sum(flat.gather(3, row * w + column) * weight for row, column, weight in (
        (y0, x0, (1 - down) * (1 - right)), (y0, x1, (1 - down) * right),
        (y1, x0, down * (1 - right)), (y1, x1, down * right)))
    return value * inside


def _jvp(inputs, output, tangents):
    """The operator is linear in input as long as the same samples win."""
    input, boxes, pool_size = inputs
    no_tangent("border_align", "boxes", tangents[1])
    if tangents[0] is None:
        return torch.zeros_like(output[0]), None
    n, c4, h, w = input.shape
    wide = torch.promote_types(input.dtype, torch.float32)
    planes = tangents[0].to(wide).reshape(n, 4, c4 // 4, h, w).transpose(1, 2)
    y, x = _winners(boxes.to(wide), output[1].to(wide), pool_size)
    along = _bilinear(planes, y, x).transpose(2, 3).to(input.dtype)
    return along.contiguous(memory_format=image_format(output[0])), None


def _four_borders(channels, **_):
    if channels % 4 != 0:
        raise bad_param("input", "channels divisible by 4 (borders)", channels)


gradient = described("border_align_backward(grad, boxes, argmax, pool_size, height, width)", BACKWARD)
forward = described("border_align(input, boxes, pool_size)", FORWARD, rule=_four_borders, gradient=gradient, jvp=_jvp)


def border_align(input: Tensor, boxes: Tensor, pool_size: int) -> Tensor:
    """Maximum of pool_size+1 bilinear samples along each border of each box.

    Args:
        input: T [N, 4*C, H, W]; channels in four groups: top, left, bottom, right.
        boxes: T [N, K, 4]: x1, y1, x2, y2.
        pool_size: samples per border less one, >= 1.
    Returns: T [N, C, K, 4] (top, left, bottom, right), differentiable in input.

    Source: Qiu et al., "BorderDet", ECCV 2020.
    """
    x, b = floats(input=input, boxes=boxes)
    return forward(x, b, integer("pool_size", pool_size))[0]


class BorderAlign(nn.Module):
    """mluops.torch.border_align; forward(input [N,4*C,H,W], boxes [N,K,4]) -> [N,C,K,4]."""

    def __init__(self, pool_size: int) -> None:
        super().__init__()
        self.pool_size = pool_size

    def forward(self, input: Tensor, boxes: Tensor) -> Tensor:
        return border_align(input, boxes, self.pool_size)

    def extra_repr(self) -> str:
        return f"pool_size={self.pool_size}"
