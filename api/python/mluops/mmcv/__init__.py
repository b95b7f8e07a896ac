"""mmcv's models on the CPU: install() puts mluops behind mmcv.ops without touching user code.

    import mluops.mmcv
    mluops.mmcv.install()
    from mmcv.ops import CARAFEPack      # works with mmcv-lite, trains on the CPU

`python -m mluops.mmcv` prints who serves which operator here. Tensors on other devices go to mmcv's own code, and where
mmcv has none for the device, to mluops by way of the CPU.
What replaces a function of mmcv has that function as its attribute `original`. uninstall() undoes it.
"""

import functools
import importlib
import sys
import types
import warnings
from importlib.machinery import ModuleSpec
from typing import Callable, Optional, Tuple, Type

import torch

from .._replacing import Replacements, routed
from ._entry_points import ENTRY_POINTS, KEEPS_OWN, METHODS
from ._instances import index_types
from ._table import operator_of, ours

__all__ = ["install", "installed", "uninstall"]

_EXTENSION = "mmcv._ext"
_replaced = Replacements()
_made_extension = False


def _refused(function: str) -> Callable:
    """A placeholder for a function of the extension that is not supported."""

    def refused(*args, **kwargs):
        raise NotImplementedError(
            f"mmcv operator {operator_of(function)} ({function}) is not among those mluops serves on the CPU: "
            f"{', '.join(ours())}. It needs a compiled mmcv that has it; `python -m mluops.mmcv` lists all operators")

    return refused


@functools.lru_cache(maxsize=None)  # mmcv.ops keeps the module it found first
def _stand_in() -> types.ModuleType:
    """A module mmcv._ext for an mmcv without one. Every name exists, as mmcv.ops demands when it is imported; those
    that nobody provides raise when called."""
    module = types.ModuleType(_EXTENSION, "Stand-in for mmcv's compiled extension, made by mluops.mmcv")
    module.__spec__ = ModuleSpec(_EXTENSION, None)

    def __getattr__(name: str):
        if name.startswith("__"):
            raise AttributeError(name)

        return _refused(name)

    vars(module).update(__getattr__=__getattr__, get_compiler_version=lambda: "none (mluops)",
                        get_compiling_cuda_version=lambda: "not available")
    return module


def _extension() -> Tuple[types.ModuleType, str]:
    """mmcv's extension, or a stand-in, and a word about it."""
    global _made_extension
    try:
        return importlib.import_module(_EXTENSION), "compiled mmcv"
    except ModuleNotFoundError:
        note = "mmcv without compiled operators"
    except ImportError as error:  # built for another torch
        note = f"mmcv whose compiled operators cannot be loaded ({error})"
    sys.modules[_EXTENSION] = module = _stand_in()
    vars(importlib.import_module("mmcv"))["_ext"] = module
    _made_extension = True
    return module, note


def _routed(name: str, ours: Callable, original: Optional[Callable]) -> Callable:
    return routed(name, ours, original, "mmcv")


def _replace_method(function: Type[torch.autograd.Function], name: str, ours: Callable) -> None:
    """A static method of an autograd function: ours for CPU tensors, mmcv's for others."""
    _replaced.set(function, name, staticmethod(_routed(name, ours, getattr(function, name))))


def _replace_function(module: types.ModuleType, name: str, ours: Callable) -> None:
    """A function of mmcv's Python code, where it stands and in mmcv.ops, which imports it by name."""
    replacement = _routed(name, ours, getattr(module, name))
    for place in (module, importlib.import_module("mmcv.ops")):
        _replaced.set(place, name, replacement)


def _module_of_mmcv(name: str) -> Optional[types.ModuleType]:
    """None if this version of mmcv has no such module: the first 1.x lack several."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


def installed() -> bool:
    """Whether install() is in force."""
    return bool(_replaced)


def install() -> None:
    """Makes mmcv.ops use mluops for CPU tensors; warns once with what it replaced. A second call changes nothing.

    With mmcv-lite, call it before importing mmcv.ops. Raises ImportError without mmcv.
    """
    if installed():
        return
    importlib.import_module("mmcv")
    extension, note = _extension()
    taken = [name for name in ENTRY_POINTS if name not in KEEPS_OWN or _made_extension]
    for name in taken:
        _replaced.set(extension, name, _routed(name, ENTRY_POINTS[name], vars(extension).get(name)))
    try:
        for (module, function, method), replacement in METHODS.items():
            place = _module_of_mmcv(module)
            if method and hasattr(getattr(place, function, None), method):
                _replace_method(getattr(place, function), method, replacement)
            elif not method and hasattr(place, function):
                _replace_function(place, function, replacement)
        mmengine, kinds = index_types()
        for name, kind in kinds.items():
            _replaced.set(mmengine, name, kind)
    except BaseException:
        uninstall()
        raise
    names = dict.fromkeys(map(operator_of, taken))
    warnings.warn(f"mluops.mmcv: {note}; on the CPU mluops now serves {', '.join(names)} "
                  "(all operators: python -m mluops.mmcv)", stacklevel=2)


def uninstall() -> None:
    """Puts back what install() replaced. Modules imported meanwhile stay, with operators that raise as before."""
    global _made_extension
    _replaced.undo()
    if _made_extension:
        sys.modules.pop(_EXTENSION, None)
        vars(sys.modules["mmcv"]).pop("_ext", None)
        _made_extension = False
