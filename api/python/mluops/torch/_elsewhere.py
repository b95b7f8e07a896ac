"""Tensors of other devices: operators run on the CPU, and results and gradients come back.

An operator given a tensor on, for example, `mps` or `xpu` copies its inputs to the CPU, runs there, and copies its results to the
device of the first such tensor. The copies are differentiable, so each input gets its gradient on its own device. Inputs may lie on
several devices. Tensors on `cuda` are served only after cpu_fallback(cuda=True), because a CUDA user most likely wants CUDA kernels.
"""

import functools
import warnings
from typing import Any, Callable, Optional

import torch
from torch import Tensor

from .. import _devices
from . import _eager

# Keys of torch's dispatcher under which an operator called as torch.ops.mluops.<name> reaches its CPU kernel.
DISPATCH_KEYS = ("CUDA", "MPS", "XPU", "HPU", "PrivateUse1")
_HERE = ("cpu", "meta")


def device_of(inputs: tuple) -> Optional[torch.device]:
    """The device of the first tensor that is elsewhere; None if there is none."""
    numbers = () if _eager.compiling() else _eager.NUMBERS  # torch 2.6 compiles no look into a set of types
    for value in inputs:
        if type(value) not in numbers and isinstance(value, Tensor) and value.device.type not in _HERE:
            return value.device
    return None


@functools.lru_cache(maxsize=None)
def _warn_once(operator: str, device_type: str) -> None:
    warnings.warn(f"mluops: {operator} runs on the CPU; tensors on {device_type} are copied there and results back. "
                  "mluops.torch.cpu_fallback(warn=False) or MLUOPS_FALLBACK_WARNING=0 silences this", stacklevel=4)


def _moved(values: Any, device: Any) -> Any:
    if isinstance(values, Tensor):
        return values.to(device)
    return tuple(_moved(value, device) for value in values) if isinstance(values, (tuple, list)) else values


def by_way_of_the_cpu(operator: str, call: Callable, device: torch.device, inputs: tuple) -> Any:
    """Calls with all tensors on the CPU; the results are on `device`."""
    if not _devices.serves(device.type):
        raise NotImplementedError(f"mluops: {operator} works on CPU tensors, got {device}. mluops.torch.cpu_fallback(cuda=True) "
                                  "lets it copy them to the CPU and back")
    if _devices.warns() and not _eager.compiling():
        _warn_once(operator, device.type)
    return _moved(call(*(_moved(value, "cpu") if isinstance(value, Tensor) else value for value in inputs)), device)


def served(operator: str, call: Callable) -> Callable:
    """`call`, which takes CPU tensors, for tensors of all devices."""

    def call_(*inputs: Any) -> Any:
        device = device_of(inputs)
        return call(*inputs) if device is None else by_way_of_the_cpu(operator, call, device, inputs)

    return call_
