"""Brings back names that Python, numpy, torch, torchvision and Pillow have removed, and the call of autograd functions with
methods. Names that exist are left alone."""

import collections
import collections.abc
import fractions
import importlib
import importlib.metadata
import importlib.util
import inspect
import math
import sys
import time
import types
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any, Callable, Dict, Optional, Sequence

import torch

from .._replacing import Replacements
from . import _legacy_functions

_done = Replacements()


def _of_python() -> Dict[Any, Dict[str, Any]]:
    def getargspec(func: Callable) -> Any:
        return _ArgSpec(*inspect.getfullargspec(func)[:4])

    return {collections: {name: getattr(collections.abc, name) for name in collections.abc.__all__},
            inspect: {"getargspec": getargspec}, fractions: {"gcd": math.gcd}, time: {"clock": time.perf_counter}}


_ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def _of_numpy() -> Dict[Any, Dict[str, Any]]:
    import numpy as np
    now = {"float_": "float64", "complex_": "complex128", "unicode_": "str_", "string_": "bytes_", "Inf": "inf",
           "Infinity": "inf", "infty": "inf", "PINF": "inf", "NaN": "nan", "product": "prod", "cumproduct": "cumprod",
           "sometrue": "any", "alltrue": "all", "row_stack": "vstack", "trapz": "trapezoid", "round_": "round",
           "mat": "asmatrix", "typeDict": "sctypeDict"}
    names = {old: getattr(np, new) for old, new in now.items() if hasattr(np, new)}
    names.update({kind.__name__: kind for kind in (float, int, bool, complex, object, str)})
    names.update(NINF=-np.inf, in1d=lambda *args, **kwargs: np.isin(*args, **kwargs).ravel(), asscalar=lambda a: a.item())
    return {np: names}


def _of_torch() -> Dict[Any, Dict[str, Any]]:
    six = importlib.import_module("torch._six")  # this one's, or the rest of that of an older torch
    return {torch.hub: {"_download_url_to_file": torch.hub.download_url_to_file}, six: _six()}


def _of_pillow() -> Dict[Any, Dict[str, Any]]:
    if importlib.util.find_spec("PIL") is None:
        return {}
    from PIL import Image
    return {Image: {"ANTIALIAS": Image.LANCZOS, "LINEAR": Image.BILINEAR, "CUBIC": Image.BICUBIC}}


def _six() -> Dict[str, Any]:
    """torch._six."""
    return {"string_classes": (str, bytes), "int_classes": int, "container_abcs": collections.abc, "inf": math.inf,
            "nan": math.nan, "PY2": False, "PY3": True, "PY37": True,
            "istuple": lambda value: isinstance(value, tuple), "FileNotFoundError": FileNotFoundError}


class _Distribution:
    def __init__(self, name: str) -> None:
        self.project_name, self.version = name, importlib.metadata.version(name)


def _packages() -> Dict[str, Any]:
    """pkg_resources, which setuptools no longer has."""
    version = importlib.import_module("packaging.version")
    return {"parse_version": version.parse, "get_distribution": _Distribution,
            "DistributionNotFound": importlib.metadata.PackageNotFoundError}


def _tensor_functions() -> Dict[str, Any]:
    """torchvision.transforms.functional_tensor."""
    return vars(importlib.import_module("torchvision.transforms._functional_tensor"))


_MODULES = {"torch._six": _six, "pkg_resources": _packages, "torchvision.transforms.functional_tensor": _tensor_functions}


class _Filled(Loader):
    def __init__(self, names: Callable[[], Dict[str, Any]]) -> None:
        self._names = names

    def exec_module(self, module: types.ModuleType) -> None:
        names = self._names()
        vars(module).update({name: names[name] for name in names if not name.startswith("__")})


class _Finder(MetaPathFinder):
    """Finds the modules of _MODULES when no other finder has them."""

    def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None, target: Any = None) -> Optional[ModuleSpec]:
        if fullname not in _MODULES:
            return None
        return ModuleSpec(fullname, _Filled(_MODULES[fullname]))


_finder = _Finder()


def install() -> None:
    """A second call changes nothing."""
    if _finder in sys.meta_path:
        return
    sys.meta_path.append(_finder)
    _legacy_functions.install()
    for names in (_of_python, _of_numpy, _of_torch, _of_pillow):
        for owner, values in names().items():
            for name, value in values.items():
                if name not in vars(owner):
                    _done.set(owner, name, value)


def uninstall() -> None:
    _done.undo()
    _legacy_functions.uninstall()
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for name in _MODULES:
        module = sys.modules.get(name)
        if module is not None and isinstance(module.__spec__.loader, _Filled):
            del sys.modules[name]
            parent, _, last = name.rpartition(".")
            if vars(sys.modules.get(parent, module)).get(last) is module:
                delattr(sys.modules[parent], last)
