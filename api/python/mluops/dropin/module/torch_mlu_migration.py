"""torch_mlu.utils.gpu_migration: importing it sends programs written for CUDA to device mlu.

What names a CUDA device in Python names device mlu then, torch.cuda has the functions of torch.mlu, and mixed precision
for CUDA is that of device mlu."""

import functools
from typing import Any, Callable

import torch

from ..._replacing import Replacements
from .. import _cuda_calls, _is_cuda

PACKAGE = "torch_mlu"
NAMES = ("torch_mlu.utils.gpu_migration", "torch_mlu.utils.gpu_migration.migration", "torch_mlu.utils.model_transfer")
OF_OUR_PACKAGE = True

__all__ = ["apply_monkey_patches"]

_done = Replacements()
_NAME = "mlu"


def _sent(value: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
    """Tensor.cuda and Module.cuda."""
    if isinstance(value, torch.nn.Module):
        return value.to(_NAME)
    options = {} if memory_format is None else {"memory_format": memory_format}
    return value.to(_NAME, non_blocking=non_blocking, **options)


def _mixed_precision(make: Callable) -> Callable:
    """The constructor of torch.amp.autocast or torch.amp.GradScaler, whose first argument is a device."""

    @functools.wraps(make)
    def call(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *(_cuda_calls._moved(value, _NAME) for value in args),
             **{key: _cuda_calls._moved(value, _NAME) for key, value in kwargs.items()})

    return call


def _of_device(function: Callable, *first: Any) -> Callable:
    """torch.is_autocast_enabled and its kin, which mean CUDA where no device is named."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        named = bool(args) and isinstance(args[0], str)
        return function(*(_cuda_calls._moved(value, _NAME) for value in (args if named else (*first, *args))))

    return call


def apply_monkey_patches() -> None:
    """A second call changes nothing. Raises RuntimeError where CUDA calls are kept on the CPU already."""
    if _done:
        return
    if _cuda_calls._done:
        raise RuntimeError("torch_mlu.utils.gpu_migration: install(cuda_calls=True) keeps on the CPU what is sent to CUDA; "
                           "mluops.dropin.uninstall() first")
    from ... import mlu
    from ...mlu import _tensor_types
    for name in mlu.__all__:
        _done.set(torch.cuda, name, getattr(mlu, name))
    for name, kind in _tensor_types.TYPES.items():
        _done.set(torch.cuda, name, kind)
    _cuda_calls.take_devices(_done, _NAME)
    for owner in (torch.Tensor, torch.nn.Module):
        _done.set(owner, "cuda", _sent)
    _is_cuda.devices.add(_NAME)
    for kind in (torch.amp.autocast, torch.amp.GradScaler):
        _done.set(kind, "__init__", _mixed_precision(kind.__init__))
    for name in ("is_autocast_enabled", "set_autocast_enabled"):
        _done.set(torch, name, _of_device(getattr(torch, name), _NAME))
    _done.set(torch, "get_autocast_gpu_dtype", functools.partial(torch.get_autocast_dtype, _NAME))
    _done.set(torch, "set_autocast_gpu_dtype", functools.partial(torch.set_autocast_dtype, _NAME))


def undo() -> None:
    _done.undo()
    _is_cuda.devices.discard(_NAME)


loaded = apply_monkey_patches
