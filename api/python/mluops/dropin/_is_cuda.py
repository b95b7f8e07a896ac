"""Programs whose functions refuse CPU tensors before they ask an extension, which is ours: there Tensor.is_cuda is True.

A function is taken for one of those by what it names: a module that mluops stands for, or a function of such a module; or by
a variable of its own that holds such a module. Everywhere else Tensor.is_cuda is as it was."""

import sys
from types import CodeType, FrameType, ModuleType
from typing import Any, Set

import torch

from .._replacing import Replacements

_done = Replacements()
_known: Set[CodeType] = set()  # functions that were found to


def _is_ours(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return "__mluops_door__" in vars(value)
    return (getattr(value, "__module__", None) or "").startswith(("mluops.dropin.", "mluops.torch.filling."))


def _calls_ours(frame: FrameType) -> bool:
    code = frame.f_code
    if code not in _known:
        modules = (value for value in frame.f_locals.values() if isinstance(value, ModuleType))
        if not any(_is_ours(frame.f_globals.get(name)) for name in code.co_names) and not any(map(_is_ours, modules)):
            return False  # not for good: programs load extensions when they need them
        _known.add(code)
    return True


def install() -> None:
    if _done:
        return
    own = torch.Tensor.is_cuda

    def is_cuda(tensor: torch.Tensor) -> bool:
        return own.__get__(tensor) or _calls_ours(sys._getframe(1))

    _done.set(torch.Tensor, "is_cuda", property(is_cuda))


def uninstall() -> None:
    _done.undo()
    _known.clear()
