"""Programs whose functions refuse CPU tensors before they ask an extension, which is ours: there Tensor.is_cuda is True.

A function is taken for one of those by what it names: a module that mluops stands for, a function of such a module, or a
function of its own module that names one; or by a variable of its own that holds such a module. Everywhere else
Tensor.is_cuda is as it was."""

import sys
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Dict, Set

import torch

from .._replacing import Replacements

_done = Replacements()
devices: Set[str] = set()  # whose tensors are CUDA's everywhere
_known: Set[CodeType] = set()  # functions that were found to


def _is_ours(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return "__mluops_door__" in vars(value)
    return (getattr(value, "__module__", None) or "").startswith(("mluops.dropin.", "mluops.torch.filling."))


def _names_ours(code: CodeType, names: Dict[str, Any]) -> bool:
    return any(_is_ours(names.get(name)) for name in code.co_names)


def _by_its_functions(code: CodeType, names: Dict[str, Any]) -> bool:
    functions = (names.get(name) for name in code.co_names)
    return any(_names_ours(each.__code__, names) for each in functions
               if isinstance(each, FunctionType) and each.__globals__ is names)


def _calls_ours(frame: FrameType) -> bool:
    code, names = frame.f_code, frame.f_globals
    if names.get("__name__", "").startswith("torch."):
        return False
    if code not in _known:
        modules = (value for value in frame.f_locals.values() if isinstance(value, ModuleType))
        if not (_names_ours(code, names) or any(map(_is_ours, modules)) or _by_its_functions(code, names)):
            return False  # not for good: programs load extensions when they need them
        _known.add(code)
    return True


def install() -> None:
    if _done:
        return
    own = torch.Tensor.is_cuda

    def is_cuda(tensor: torch.Tensor) -> bool:
        return own.__get__(tensor) or tensor.device.type in devices or _calls_ours(sys._getframe(1))

    _done.set(torch.Tensor, "is_cuda", property(is_cuda))


def uninstall() -> None:
    _done.undo()
    _known.clear()
