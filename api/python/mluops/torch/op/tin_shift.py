"""tin_shift: groups of channels moved along time; TINShift, the module. A composition of torch operators, no kernel of
the library."""

import torch
from torch import Tensor, nn

from ..._errors import bad_param
from ..._shapes import expect, rank
from .._integers import int32
from .._tensors import floats

__all__ = ["TINShift", "tin_shift"]


def tin_shift(input: Tensor, shift: Tensor) -> Tensor:
    """Moves groups of channels along time. Composed of torch operators.

    Args:
        input: T [N, T, C, HW].
        shift: int32 or int64 [N, G]; C is a multiple of G. Group g of sample n moves by shift[n, g] steps.
    Returns: T [N, T, C, HW]; 0 where nothing moved to. Differentiable in input. (mmcv's gradient moves in the same
    direction, which is not that of its function.)

    T: float16, bfloat16, float32, float64. Source: mmcv's tin_shift.
    """
    input, = floats(input=input)
    n, steps, channels, pixels = rank("input", input.shape, 4)
    _, groups = rank("shift", shift.shape, 2)
    expect("shift", shift.shape, (n, groups), ("the samples of input", ""))
    if groups < 1 or channels % groups or channels < groups:
        raise bad_param("shift", f"a number of groups that divides the {channels} channels of input", groups)
    moves = int32("shift", shift).long()[:, None]
    places = torch.arange(steps, device=input.device)[None, :, None] - moves  # [N, T, G]
    inside = (places >= 0) & (places < steps)
    rows = input.reshape(n, steps, groups, channels // groups * pixels)
    samples = torch.arange(n, device=input.device)[:, None, None]
    moved = rows[samples, places.clamp(0, max(steps - 1, 0)), torch.arange(groups, device=input.device)]
    return moved.masked_fill(~inside[..., None], 0).reshape(input.shape)


class TINShift(nn.Module):
    """tin_shift as a module: forward(input, shift)."""

    def forward(self, input: Tensor, shift: Tensor) -> Tensor:
        return tin_shift(input, shift)


SMALLEST: dict = {}  # no operator of the library
