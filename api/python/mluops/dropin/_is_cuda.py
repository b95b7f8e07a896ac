"""Programs whose functions refuse CPU tensors before they ask an extension, which is ours: there Tensor.is_cuda is True.

A function is taken for one of those by what it names: a module that mluops stands for, also in a table of modules, or a
function of such a module; a function or class of its own module, or a function of another module of the program, that names
one; or by a variable of its own that holds such a module. Everywhere else Tensor.is_cuda is as it was."""

import sys
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Dict, Iterator, Set

import torch

from .._replacing import Replacements

_NO_PROGRAMS = ("mluops", "numpy", "torch", "torchvision")
_done = Replacements()
devices: Set[str] = set()  # whose tensors are CUDA's everywhere
_known: Set[CodeType] = set()  # functions that were found to


def _is_ours(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return "__mluops_door__" in vars(value)
    return (getattr(value, "__module__", None) or "").startswith(("mluops.dropin.", "mluops.torch.filling."))


def _names_ours(code: CodeType, names: Dict[str, Any]) -> bool:
    values = [names.get(name) for name in code.co_names]
    tables = [value for value in values if isinstance(value, (dict, list, tuple))]
    return any(map(_is_ours, values)) or any(_is_ours(each) for table in tables
                                             for each in (table.values() if isinstance(table, dict) else table))


def _functions(value: Any) -> Iterator[FunctionType]:
    """A function itself, or all of a class; a bound method, as apply of an autograd.Function, stands for its class."""
    value = getattr(value, "__self__", value)
    for each in vars(value).values() if isinstance(value, type) else (value,):
        each = getattr(each, "__func__", each)
        if isinstance(each, FunctionType):
            yield each


def _by_its_functions(code: CodeType, names: Dict[str, Any]) -> bool:
    """Through those of its own module."""
    return any(_names_ours(each.__code__, names) for name in code.co_names for each in _functions(names.get(name))
               if each.__globals__ is names)


def _is_of_a_program(module: Any) -> bool:
    package = module.__name__.partition(".")[0] if isinstance(module, ModuleType) else "torch"
    return package not in _NO_PROGRAMS and package not in getattr(sys, "stdlib_module_names", ())


def _by_other_modules(code: CodeType, names: Dict[str, Any]) -> bool:
    """Through functions of modules that it names."""
    modules = filter(_is_of_a_program, map(names.get, code.co_names))
    found = (vars(module).get(name) for module in modules for name in code.co_names)
    return any(_names_ours(each.__code__, each.__globals__) or _by_its_functions(each.__code__, each.__globals__)
               for each in found if isinstance(each, FunctionType))


def _calls_ours(frame: FrameType) -> bool:
    code, names = frame.f_code, frame.f_globals
    if names.get("__name__", "").startswith("torch."):
        return False
    if code not in _known:
        modules = (value for value in frame.f_locals.values() if isinstance(value, ModuleType))
        if not (_names_ours(code, names) or any(map(_is_ours, modules)) or _by_its_functions(code, names) or
                _by_other_modules(code, names)):
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
