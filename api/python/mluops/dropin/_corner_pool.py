"""Corner pooling: the running maximum along an axis, forwards or from its end. One step per place of the axis, each a few of
torch's operators on whole rows."""

from typing import Sequence

import torch
from torch import Tensor


def _axis_first(tensor: Tensor, axis: int) -> Tensor:
    return tensor.movedim(axis, 0).contiguous()


def _order(x: Tensor, from_end: bool) -> Sequence[int]:
    return range(len(x) - 1, -1, -1) if from_end else range(len(x))


def greatest(input: Tensor, axis: int, from_end: bool) -> Tensor:
    if input.numel() == 0:
        return input.clone()
    x = _axis_first(input.detach(), axis)
    out = torch.empty_like(x)
    first, *rest = _order(x, from_end)
    before = out[first].copy_(x[first])
    for i in rest:
        before = torch.maximum(before, x[i], out=out[i])
    return out.movedim(0, axis).contiguous()


def _rises(x: Tensor, order: Sequence[int]) -> Tensor:
    """Whether each element is greater than all before it."""
    rises = torch.ones(x.shape, dtype=torch.bool)
    so_far = x[order[0]]
    for i in order[1:]:
        torch.gt(x[i], so_far, out=rises[i])
        so_far = torch.maximum(so_far, x[i])
    return rises


def gradient(input: Tensor, grad_output: Tensor, axis: int, from_end: bool) -> Tensor:
    """Each output's gradient goes to the element that is its maximum, to the first of equal ones."""
    if input.numel() == 0:
        return torch.zeros_like(input)
    x = _axis_first(input.detach(), axis)
    grad = _axis_first(grad_output.detach().to(x.dtype), axis)
    order = _order(x, from_end)
    rises, found = _rises(x, order), torch.empty_like(x)
    total, zero = torch.zeros_like(x[0]), x.new_zeros(())
    for i in reversed(order):
        total += grad[i]
        found[i] = torch.where(rises[i], total, zero)
        total.masked_fill_(rises[i], 0)
    return found.movedim(0, axis).contiguous()
