"""Functions of other packages, replaced for CPU tensors and put back."""

import functools
from typing import Any, Callable, List, Optional, Tuple

import torch

from ._devices import serves

_MISSING = object()


class Replacements:
    """Attributes set on foreign modules and classes, and what they were."""

    def __init__(self) -> None:
        self._undo: List[Tuple[object, str, object]] = []

    def __bool__(self) -> bool:
        return bool(self._undo)

    def set(self, owner: object, name: str, value: object) -> None:
        self._undo.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)

    def undo(self) -> None:
        while self._undo:
            owner, name, before = self._undo.pop()
            if before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def _device_of(args: tuple, kwargs: dict) -> str:
    """The kind of device of the first tensor, which may stand in a list; empty where there is no tensor."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, (list, tuple)) and value:
            value = value[0]
        if isinstance(value, torch.Tensor):
            return value.device.type
    return ""


def _without_kernel(error: Exception) -> bool:
    """Whether a compiled mmcv, or torch of an operator like torchvision's, says that it has no kernel for a device; or
    torchvision that it could not load its compiled operators."""
    text = str(error)
    if text.startswith("Couldn't load custom C++ ops"):
        return True
    if isinstance(error, NotImplementedError):
        return text.startswith("Could not run '") and "::" in text
    return "implementation for device" in text and "not found" in text


def routed(name: str, ours: Callable, original: Optional[Callable], package: str) -> Callable:
    """CPU tensors to ours. Tensors of another device to the package's own function, and to ours, by way of the CPU, where the
    package has none for that device. The package's function stays within reach as `original`."""

    @functools.wraps(ours)
    def entry(*args: Any, **kwargs: Any) -> Any:
        device = _device_of(args, kwargs)
        if device == "cpu" or original is None and device and serves(device):
            return ours(*args, **kwargs)
        if original is None:
            raise NotImplementedError(f"{name}: mluops serves CPU tensors, got {device or 'no tensor'}; cuda needs a compiled "
                                      f"{package}, or mluops.torch.cpu_fallback(cuda=True)")
        try:
            return original(*args, **kwargs)
        except RuntimeError as error:
            if not device or not serves(device) or not _without_kernel(error):
                raise
            return ours(*args, **kwargs)

    entry.original = original
    if original is not None:
        entry.__prepare_scriptable__ = lambda: original  # torch.jit.script compiles source, which the original has
    return entry
