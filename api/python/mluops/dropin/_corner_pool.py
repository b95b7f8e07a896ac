"""Corner pooling: the greatest on the way along an axis, forwards or from its end."""

import torch
from torch import Tensor


def greatest(input: Tensor, axis: int, from_end: bool) -> Tensor:
    if input.numel() == 0:
        return input.clone()
    if from_end:
        return input.flip(axis).cummax(axis)[0].flip(axis)
    return input.cummax(axis)[0]


def gradient(input: Tensor, grad_output: Tensor, axis: int, from_end: bool) -> Tensor:
    """To the first of equal elements on the way."""
    if input.numel() == 0:
        return torch.zeros_like(input)
    x, grad = (each.flip(axis) if from_end else each for each in (input, grad_output))
    at = _first_greatest(x, axis)
    found = torch.zeros_like(x).scatter_add(axis, at, grad.to(x.dtype))
    return found.flip(axis) if from_end else found


def _first_greatest(x: Tensor, axis: int) -> Tensor:
    """The first position of each cumulative maximum; torch's indices are the last one."""
    values = x.cummax(axis)[0]
    size = x.shape[axis]
    steps = torch.arange(size).reshape([-1 if i == axis % x.dim() else 1 for i in range(x.dim())])
    rises = values != values.roll(1, axis)
    rises.select(axis, 0).fill_(True)
    return torch.where(rises, steps, torch.zeros_like(steps)).cummax(axis)[0]
