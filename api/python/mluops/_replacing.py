"""Functions of other packages, replaced for CPU tensors and put back."""

import functools
from typing import Any, Callable, List, Optional, Tuple

import torch

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


def _cpu_call(args: tuple, kwargs: dict) -> bool:
    """By the first tensor, which may stand in a list."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, (list, tuple)) and value:
            value = value[0]
        if isinstance(value, torch.Tensor):
            return value.device.type == "cpu"
    return False


def routed(name: str, ours: Callable, original: Optional[Callable], package: str) -> Callable:
    """CPU tensors to ours, anything else to the package's own function if it has one, which stays within reach as
    `original`."""

    @functools.wraps(ours)
    def entry(*args: Any, **kwargs: Any) -> Any:
        if _cpu_call(args, kwargs):
            return ours(*args, **kwargs)
        if original is None:
            raise NotImplementedError(f"{name}: mluops serves CPU tensors; other devices need a compiled {package}")
        return original(*args, **kwargs)

    entry.original = original
    return entry
