"""Results into the buffers that compiled extensions are given.

A buffer has as many elements as the result and a dtype that holds them, or an error names it. Extensions write through
pointers, so a buffer's shape may be another one.
"""

from typing import Sequence, Tuple

import torch
from torch import Tensor

from .._errors import bad_param
from ._tensors import is_tensor

_NARROW = (torch.uint8, torch.int8, torch.int16, torch.bool)


def _check_dtype(name: str, buffer: Tensor, like: torch.dtype) -> None:
    if like.is_floating_point != buffer.dtype.is_floating_point:
        raise TypeError(f"{name}: wanted a buffer of {'floats' if like.is_floating_point else 'integers'}, got "
                        f"{buffer.dtype}")
    if like in (torch.int32, torch.int64) and buffer.dtype in _NARROW:
        raise TypeError(f"{name}: wanted a buffer of int32 or int64, got {buffer.dtype}")


def room(name: str, buffer: Tensor, shape: Tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """A buffer seen in the shape of what is to be written there."""
    _check_dtype(name, is_tensor(name, buffer), dtype)
    if tuple(buffer.shape) == tuple(shape):
        return buffer
    if buffer.numel() != torch.Size(shape).numel():
        raise bad_param(name, f"a buffer of shape {list(shape)}", list(buffer.shape))
    if not buffer.is_contiguous():
        raise bad_param(name, f"a buffer of shape {list(shape)}, or a contiguous one of as many elements",
                        f"{list(buffer.shape)}, not contiguous")
    return buffer.view(shape)


def fill(name: str, buffer: Tensor, values: Tensor) -> None:
    """Copies values into a buffer, converted to its dtype."""
    room(name, buffer, values.shape, values.dtype).copy_(values)


def fill_all(results: Sequence[Tensor], **buffers: Tensor) -> None:
    """Each result into the buffer of its place; none is written unless all fit."""
    fitting = [room(name, buffer, values.shape, values.dtype)
               for (name, buffer), values in zip(buffers.items(), results)]
    for buffer, values in zip(fitting, results):
        buffer.copy_(values)


def fill_first(name: str, buffer: Tensor, values: Tensor) -> int:
    """Copies values into the first rows of a buffer; returns how many rows those are."""
    _check_dtype(name, is_tensor(name, buffer), values.dtype)
    if buffer.dim() != values.dim() or len(buffer) < len(values) or buffer.shape[1:] != values.shape[1:]:
        raise bad_param(name, f"a buffer of at least {len(values)} rows of shape {list(values.shape[1:])}",
                        list(buffer.shape))
    buffer[:len(values)].copy_(values)
    return len(values)


def add(name: str, buffer: Tensor, values: Tensor) -> None:
    """Adds values to what a buffer has."""
    room(name, buffer, values.shape, values.dtype).add_(values)


def add_all(results: Sequence[Tensor], **buffers: Tensor) -> None:
    """Adds each result to the buffer of its place; none is written unless all fit."""
    fitting = [room(name, buffer, values.shape, values.dtype)
               for (name, buffer), values in zip(buffers.items(), results)]
    for buffer, values in zip(fitting, results):
        buffer.add_(values)
