"""Results into the buffers that compiled extensions are given.

A buffer has as many elements as the result and a dtype that holds them, or an error names it. Extensions write through
pointers, so a buffer's shape may be another one.

`filling`, `adding` and their like check a buffer and return what writes to it. A call that has several makes all of them
first: `write(filling(...), adding(...))` writes nothing unless all fit.
"""

from typing import Any, Callable, Sequence

import torch
from torch import Tensor

from .._errors import bad_param
from ._tensors import is_tensor

_NARROW = (torch.uint8, torch.int8, torch.int16, torch.bool)
_Write = Callable[[], Any]


def _of(buffer: Tensor, error: Exception) -> Exception:
    """An error, and the buffer that it is about: mluops.dropin has another name for it."""
    error.buffer = buffer  # type: ignore[attr-defined]
    return error


def _check_dtype(name: str, buffer: Tensor, like: torch.dtype) -> None:
    wanted = None
    if like.is_floating_point != buffer.dtype.is_floating_point:
        wanted = "floats" if like.is_floating_point else "integers"
    elif like in (torch.int32, torch.int64) and buffer.dtype in _NARROW:
        wanted = "int32 or int64"
    if wanted:
        raise _of(buffer, TypeError(f"{name}: wanted a buffer of {wanted}, got {buffer.dtype}"))


def room(name: str, buffer: Tensor, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """A buffer seen in the shape of what is to be written there."""
    _check_dtype(name, is_tensor(name, buffer), dtype)
    if tuple(buffer.shape) == tuple(shape):
        return buffer
    if buffer.numel() != torch.Size(shape).numel():
        raise _of(buffer, bad_param(name, f"a buffer of shape {list(shape)}", list(buffer.shape)))
    if not buffer.is_contiguous():
        raise _of(buffer, bad_param(name, f"a buffer of shape {list(shape)}, or a contiguous one of as many elements",
                                    f"{list(buffer.shape)}, not contiguous"))
    return buffer.view(shape)


def rows_of(name: str, buffer: Tensor, rows: int, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """A buffer of at least so many rows of a shape."""
    _check_dtype(name, is_tensor(name, buffer), dtype)
    if buffer.dim() != len(shape) + 1 or len(buffer) < rows or tuple(buffer.shape[1:]) != tuple(shape):
        raise _of(buffer, bad_param(name, f"a buffer of at least {rows} rows of shape {list(shape)}", list(buffer.shape)))
    return buffer


def rows_to(index: Tensor) -> int:
    """How many rows a table has at least, from indices into it."""
    return int(index.max()) + 1 if index.numel() else 0


# ---- what writes


def filling(name: str, buffer: Tensor, values: Tensor) -> _Write:
    """Copies values into a buffer, converted to its dtype."""
    return lambda seen=room(name, buffer, values.shape, values.dtype): seen.copy_(values)


def filling_first(name: str, buffer: Tensor, values: Tensor) -> _Write:
    """Copies values into the first rows of a buffer."""
    rows_of(name, buffer, len(values), values.shape[1:], values.dtype)
    return lambda: buffer[:len(values)].copy_(values)


def resizing(name: str, buffer: Tensor, values: Tensor) -> _Write:
    """Makes a buffer as large as values, and copies them."""
    _check_dtype(name, is_tensor(name, buffer), values.dtype)
    return lambda: buffer.resize_(values.shape).copy_(values)


def adding(name: str, buffer: Tensor, values: Tensor) -> _Write:
    """Adds values to what a buffer has."""
    return lambda seen=room(name, buffer, values.shape, values.dtype): seen.add_(values)


def adding_rows(name: str, buffer: Tensor, index: Tensor, values: Tensor) -> _Write:
    """Adds each row of values to the row of a buffer that an index means."""
    rows_of(name, buffer, rows_to(index), values.shape[1:], values.dtype)
    return lambda: buffer.index_add_(0, index, values.to(buffer.dtype))


def write(*writes: _Write) -> None:
    for each in writes:
        each()


def fill(name: str, buffer: Tensor, values: Tensor) -> None:
    write(filling(name, buffer, values))


def fill_all(results: Sequence[Tensor], **buffers: Tensor) -> None:
    """Each result into the buffer of its place."""
    write(*(filling(name, buffer, values) for (name, buffer), values in zip(buffers.items(), results)))


def fill_first(name: str, buffer: Tensor, values: Tensor) -> int:
    """Copies values into the first rows of a buffer; returns how many rows those are."""
    write(filling_first(name, buffer, values))
    return len(values)


def add(name: str, buffer: Tensor, values: Tensor) -> None:
    write(adding(name, buffer, values))


def add_all(results: Sequence[Tensor], **buffers: Tensor) -> None:
    """Adds each result to the buffer of its place."""
    write(*(adding(name, buffer, values) for (name, buffer), values in zip(buffers.items(), results)))
