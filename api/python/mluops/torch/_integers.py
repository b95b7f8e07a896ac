"""Tensors of 64-bit integers on their way to operators, which take 32 bits: refused or computed, never cut."""

from typing import Any

import torch
from torch import Tensor

from .._errors import bad_param
from . import _eager
from ._operator import no_derivative, no_tangents, operator
from ._tensors import check_device, is_tensor

_LIMITS = torch.iinfo(torch.int32)


def _call(narrow: Tensor, wide: Tensor, name: str) -> None:
    least, greatest = map(int, wide.aminmax())
    if least < _LIMITS.min or greatest > _LIMITS.max:
        raise bad_param(name, "integers of 32 bits", greatest if greatest > _LIMITS.max else least)
    narrow.copy_(wide)


# An operator, so that the numbers are looked at wherever it runs: in compiled and exported graphs too.
_int32 = operator("int32(Tensor wide, str name) -> Tensor",
                  lambda wide, name: wide.new_empty(wide.shape, dtype=torch.int32), _call, setup=no_derivative,
                  jvp=no_tangents, check=check_device)


def _check_range(checked: Tensor, numbers: Tensor, name: str, least: int, greatest: int) -> None:
    found = [int(end) for end in numbers.aminmax()]
    if found[0] < least or found[1] > greatest:
        raise bad_param(name, f"numbers from {least} to {greatest}", found)
    checked.copy_(numbers)


_in_range = operator("in_range(Tensor numbers, str name, int least, int greatest) -> Tensor",
                     lambda numbers, name, least, greatest: numbers.new_empty(numbers.shape), _check_range,
                     setup=no_derivative, jvp=no_tangents, check=check_device)


def in_range(name: str, numbers: Tensor, least: int, greatest: int) -> Tensor:
    """The numbers, refused where one is outside, in graphs when they run."""
    return _in_range(numbers, name, least, greatest)


def is_wide(name: str, value: Any) -> bool:
    dtype = is_tensor(name, value).dtype
    if dtype not in (torch.int32, torch.int64):
        raise TypeError(f"{name}: wanted int32 or int64, got {dtype}")
    return dtype == torch.int64


def int32(name: str, numbers: Tensor) -> Tensor:
    """Coordinates, sizes or counts as int32; one that does not fit is refused."""
    if not is_wide(name, numbers):
        return numbers
    if numbers.numel() == 0 or not _eager.plain((numbers,)):
        return _int32(numbers, name)
    narrow = numbers.new_empty(numbers.shape, dtype=torch.int32)
    _call(narrow, numbers, name)
    return narrow


def index32(name: str, indices: Tensor, size: int = 0) -> Tensor:
    """Indices below `size` as int32, where those outside have a meaning, whichever they are: one that does not fit becomes
    the least or the greatest number, outside too. Without a size the library sees to it that there are fewer than that."""
    if not is_wide(name, indices):
        return indices
    if size > _LIMITS.max:
        return int32(name, indices)
    return indices.clamp(_LIMITS.min, _LIMITS.max).to(torch.int32)
