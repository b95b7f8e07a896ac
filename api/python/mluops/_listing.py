"""Packages that list themselves, and what prints lists."""

import importlib
import os
import pkgutil
import sys
from types import ModuleType
from typing import Callable, List, Optional


def modules(package: ModuleType) -> List[ModuleType]:
    """The modules of a package, imported, by name."""
    return [importlib.import_module(f"{package.__name__}.{found.name}")
            for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda found: found.name)]


def public_names(package: ModuleType, into: dict) -> List[str]:
    """Puts what the modules of a package name in __all__ into a namespace; returns the names."""
    names: List[str] = []
    for module in modules(package):
        names += module.__all__
        into.update((name, getattr(module, name)) for name in module.__all__)
    return sorted(names)


def printed(main: Callable[[], Optional[int]]) -> int:
    """Runs a program; whoever reads its output may have enough of it (`| head`)."""
    try:
        status = main() or 0
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more at its end
        return 0
