"""mmcv's models on the CPU: install() puts mluops behind mmcv.ops without touching user code.

    import mluops.mmcv
    mluops.mmcv.install()
    from mmcv.ops import CARAFEPack      # works with mmcv-lite, trains on the CPU

Served: CARAFE (also naive), PSAMask, DeformRoIPool and its packs, BorderAlign, three_interpolate. Tensors on other
devices go to mmcv's own code. uninstall() undoes it.
"""

import functools
import importlib
import sys
import types
import warnings
from importlib.machinery import ModuleSpec
from typing import Callable, Dict, List, Optional, Tuple, Type

import torch

from ._entry_points import BACKWARDS, ENTRY_POINTS

__all__ = ["install", "installed", "uninstall"]

_EXTENSION = "mmcv._ext"
_MISSING = object()
_undo: List[Tuple[object, str, object]] = []  # owner, attribute, what it was
_made_extension = False


def _cpu_call(args: tuple, kwargs: dict) -> bool:
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor):
            return value.device.type == "cpu"
    return False


def _routed(name: str, ours: Callable, original: Optional[Callable]) -> Callable:
    """CPU tensors to ours, anything else to mmcv's own function if it has one."""

    @functools.wraps(ours)
    def entry(*args, **kwargs):
        if _cpu_call(args, kwargs):
            return ours(*args, **kwargs)
        if original is None:
            raise NotImplementedError(f"{name}: mluops serves CPU tensors; other devices need a compiled mmcv")
        return original(*args, **kwargs)

    return entry


@functools.lru_cache(maxsize=None)  # mmcv.ops keeps the module it found first
def _stand_in() -> types.ModuleType:
    """A module mmcv._ext for an mmcv without one. Every name exists, as mmcv.ops demands when it is imported; those
    that nobody provides raise when called."""
    module = types.ModuleType(_EXTENSION, "Stand-in for mmcv's compiled extension, made by mluops.mmcv")
    module.__spec__ = ModuleSpec(_EXTENSION, None)

    def __getattr__(name: str):
        if name.startswith("__"):
            raise AttributeError(name)

        def not_here(*args, **kwargs):
            raise NotImplementedError(f"mmcv operator {name} needs a compiled mmcv; mluops.mmcv.install() provides "
                                      + ", ".join(sorted(ENTRY_POINTS)))

        return not_here

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


def _replace(owner: object, name: str, value: object) -> None:
    _undo.append((owner, name, vars(owner).get(name, _MISSING)))
    setattr(owner, name, value)


def _replace_backward(function: Type[torch.autograd.Function], ours: Callable) -> None:
    original = function.backward

    def backward(ctx, grad_output):
        return ours(ctx, grad_output) if grad_output.device.type == "cpu" else original(ctx, grad_output)

    _replace(function, "backward", staticmethod(backward))


def installed() -> bool:
    """Whether install() is in force."""
    return bool(_undo)


def install() -> None:
    """Makes mmcv.ops use mluops for CPU tensors; warns once with what it replaced. A second call changes nothing.

    With mmcv-lite, call it before importing mmcv.ops. Raises ImportError without mmcv.
    """
    if installed():
        return
    importlib.import_module("mmcv")
    extension, note = _extension()
    originals: Dict[str, Optional[Callable]] = {name: vars(extension).get(name) for name in ENTRY_POINTS}
    for name, ours in ENTRY_POINTS.items():
        _replace(extension, name, _routed(name, ours, originals[name]))
    try:
        for (module, function), backward in BACKWARDS.items():
            _replace_backward(getattr(importlib.import_module(module), function), backward)
    except BaseException:
        uninstall()
        raise
    warnings.warn(f"mluops.mmcv: {note}; on the CPU mluops now serves {', '.join(sorted(ENTRY_POINTS))}",
                  stacklevel=2)


def uninstall() -> None:
    """Puts back what install() replaced. Modules imported meanwhile stay, with operators that raise as before."""
    global _made_extension
    while _undo:
        owner, name, before = _undo.pop()
        if before is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, before)
    if _made_extension:
        sys.modules.pop(_EXTENSION, None)
        vars(sys.modules["mmcv"]).pop("_ext", None)
        _made_extension = False
