"""Tensors on their way to the C functions."""

from typing import Any, Optional, Tuple

import torch
from torch import Tensor

from .. import _context as c
from .._errors import BadParamError
from .._function import CFunction
from . import _eager
from ._plan import Prepared

CODES = {torch.float16: c.HALF, torch.float32: c.FLOAT, torch.float64: c.DOUBLE, torch.bfloat16: c.BFLOAT16,
         torch.int32: c.INT32, torch.int64: c.INT64, torch.bool: c.BOOL}
_FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


# ---- what a public function does with its tensors


def is_tensor(name: str, value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: wanted a torch.Tensor, got {type(value).__name__} (the functions of mluops, without "
                        ".torch, take numpy arrays)")
    return value


def floats(optional: str = "", **tensors: Optional[Tensor]) -> list:
    """Tensors of the common dtype, as torch's own operators promote (half with float gives float). The one named by
    `optional` may be None."""
    dtype, mixed = None, False
    for name, tensor in tensors.items():
        if tensor is None and name == optional:
            continue
        own = is_tensor(name, tensor).dtype
        if own is dtype:
            continue
        if own not in _FLOATS:
            raise TypeError(f"{name}: wanted float16, bfloat16, float32 or float64, got {own}")
        mixed = dtype is not None
        dtype = torch.promote_types(dtype, own) if mixed else own
    if not mixed:
        return list(tensors.values())
    return [t if t is None or t.dtype == dtype else t.to(dtype) for t in tensors.values()]


def image_format(*tensors: Tensor) -> torch.memory_format:
    """The memory order of a call's images: that of the first tensor for which NCHW and channels_last differ and which
    is dense in one of them; else NCHW, torch's default."""
    for tensor in tensors:
        is_nchw = tensor.is_contiguous()
        if tensor.dim() == 4 and is_nchw != tensor.is_contiguous(memory_format=torch.channels_last):
            return torch.contiguous_format if is_nchw else torch.channels_last
    return torch.contiguous_format


def in_order_of(like: Tensor, tensor: Tensor) -> Tensor:
    """An image in the memory order of another one. A public function asks for that, so that a call's images are
    converted, if at all, once for forward and backward. (Transforms like vmap know no memory orders.)"""
    if tensor.is_contiguous() and like.is_contiguous() or tensor.dim() != 4 or _eager.transformed():
        return tensor
    return tensor.contiguous(memory_format=image_format(like, tensor))


# ---- the call


def new_image(like: Tuple[Tensor, ...], shape: Tuple[int, ...], dtype: Optional[torch.dtype] = None) -> Tensor:
    """A tensor in the memory order of others, not filled."""
    return torch.empty(shape, dtype=dtype or like[0].dtype, device=like[0].device, memory_format=image_format(*like))


def context() -> c.Context:
    """This thread's context with torch's thread count and determinism."""
    found = c.torch_door.context()
    found.set_threads(torch.get_num_threads())
    deterministic = torch.are_deterministic_algorithms_enabled()
    found.set_atomics(c.ATOMICS_NOT_ALLOWED if deterministic else c.ATOMICS_ALLOWED)
    return found


def reference(tensor: Tensor, layout: int) -> c.Tensor:
    """A dense tensor as the C API sees it: a channels_last one is an NHWC tensor."""
    shape = tuple(tensor.shape)
    if layout == c.NHWC:
        shape = shape[0], shape[2], shape[3], shape[1]
    return CODES[tensor.dtype], shape, tensor.data_ptr(), layout


def run(function: CFunction, *values: Any) -> Optional[Prepared]:
    """The C call with tensors and numbers in its order. Images go where they lie, in NCHW or in NHWC, which is what
    channels_last is in memory; an input that is in neither order, or not in the results', is copied."""
    found = context()
    if found.takes_nchw:
        return _run(found, function, values, _image_layout(function, values))
    return _run_nhwc(found, function, values)


def _image_layout(function: CFunction, values: tuple) -> int:
    """Results, which cannot be converted, stand last: the last image whose bytes tell the order decides."""
    images = (v for layout, v in zip(function.layouts, values) if layout == c.NHWC and v is not None)
    return _LAYOUT[image_format(*reversed(tuple(images)))]


def _run(found: c.Context, function: CFunction, values: tuple, image_layout: int) -> Prepared:
    given, used, addresses = list(values), [], []
    for i, (layout, value) in enumerate(zip(function.layouts, values)):
        if layout is not None and value is not None:
            layout = image_layout if layout == c.NHWC else layout
            dense = value.contiguous(memory_format=_MEMORY[layout])
            used.append(dense)  # keeps it until the call is over
            given[i] = reference(dense, layout)
            addresses.append((function.last[i] - 1, value, None if dense is value else _MEMORY[layout]))
        elif isinstance(value, Tensor):  # a bare address, of numbers next to each other
            given[i] = value.data_ptr()
            addresses.append((function.last[i] - 1, value, None))
    arguments, scalars = function.arguments(found, tuple(given)), function.scalars(tuple(given))
    function.call(found, arguments, scalars)
    return Prepared(function, arguments, scalars, addresses)


def _run_nhwc(found: c.Context, function: CFunction, values: tuple) -> None:
    """For a backend without NCHW: results are made beside those asked for and moved."""
    first = len(values) - function.results
    made = [torch.empty_like(value, memory_format=torch.channels_last)
            if i >= first and layout == c.NHWC and value is not None else value
            for i, (layout, value) in enumerate(zip(function.layouts, values))]
    _run(found, function, tuple(made), c.NHWC)
    for value, result in zip(values[first:], made[first:]):
        if result is not value:
            value.copy_(result)


_MEMORY = {c.NCHW: torch.contiguous_format, c.NHWC: torch.channels_last, c.ARRAY: torch.contiguous_format}
_LAYOUT = {torch.contiguous_format: c.NCHW, torch.channels_last: c.NHWC}


def check_device(operator: str, inputs: tuple) -> None:
    """The check of every operator: one device."""
    device = None
    for tensor in inputs:
        if isinstance(tensor, Tensor):
            if device is None:
                device = tensor.device
            elif tensor.device != device:
                raise BadParamError.of(f"{operator}: wanted all tensors on one device, got {device} and "
                                       f"{tensor.device}")


def check_call(operator: str, inputs: tuple) -> None:
    """The check of the library's operators: one floating dtype, no other dtypes except int32 and bool."""
    check_device(operator, inputs)
    dtype = None
    for tensor in inputs:
        if not isinstance(tensor, Tensor):
            continue
        if tensor.dtype not in CODES or tensor.dtype == torch.int64:
            raise TypeError(f"{operator}: wanted tensors of float16, bfloat16, float32 or float64, got {tensor.dtype}")
        if tensor.dtype not in (torch.int32, torch.bool):
            if dtype is None:
                dtype = tensor.dtype
            elif tensor.dtype != dtype:
                raise BadParamError.of(f"{operator}: wanted tensors of one dtype, got {dtype} and {tensor.dtype}")


def any_empty(inputs: tuple) -> bool:
    for tensor in inputs:
        if isinstance(tensor, Tensor) and tensor.numel() == 0:
            return True
    return False
