"""Modules that stand for others that are not installed.

The finder is the last of sys.meta_path: it is asked for what nobody else found, so a module that is installed is never
hidden. A second one, the first of sys.meta_path, has functions replaced in modules of other packages once they are
loaded (REPLACES of a door, module/__init__.py)."""

import importlib.util
import sys
import types
import warnings
from fnmatch import fnmatchcase
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from .._replacing import Replacements, routed

_OURS = "__mluops_door__"


def is_ours(module: Optional[types.ModuleType]) -> bool:
    return module is not None and _OURS in vars(module)


def _has(name: str, door: types.ModuleType) -> str:
    return f"{name} is not installed and mluops stands for it on the CPU; it has {', '.join(sorted(door.__all__))}"


class _DoorLoader(Loader):
    """Fills a module with the names of a door; others are its modules, or raise with the list of what is there."""

    def __init__(self, finder: "StandIns", door: types.ModuleType) -> None:
        self._finder, self._door = finder, door

    def exec_module(self, module: types.ModuleType) -> None:
        def __getattr__(name: str) -> Any:
            within = f"{module.__name__}.{name}"
            if self._finder.door_of(within) is not None:
                return importlib.import_module(within)
            raise AttributeError(f"{_has(module.__name__, self._door)}: no {name}")

        vars(module).update({name: getattr(self._door, name) for name in self._door.__all__})
        vars(module).update({_OURS: self._door, "__doc__": self._door.__doc__, "__all__": list(self._door.__all__),
                             "__getattr__": __getattr__})
        getattr(self._door, "loaded", bool)()


class StandIns(MetaPathFinder):
    """Finds the modules that the doors stand for."""

    def __init__(self) -> None:
        self.doors: List[types.ModuleType] = []
        self._told: Set[str] = set()

    def door_of(self, name: str) -> Optional[types.ModuleType]:
        return next((door for door in self.doors for pattern in getattr(door, "NAMES", ())
                     if fnmatchcase(name, pattern)), None)

    def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None, target: Any = None) -> Optional[ModuleSpec]:
        parent = sys.modules.get(fullname.rpartition(".")[0])
        door = self.door_of(fullname)
        if door is None:
            if is_ours(parent):
                raise ModuleNotFoundError(f"{_has(parent.__name__, vars(parent)[_OURS])}: no {fullname}")
            return None
        if parent is not None and not is_ours(parent) and getattr(door, "OF_OUR_PACKAGE", False):
            return None  # another version of the package
        self._tell(fullname)
        return ModuleSpec(fullname, _DoorLoader(self, door), is_package=True)

    def _tell(self, fullname: str) -> None:
        package = fullname.split(".")[0]
        if package not in self._told:
            self._told.add(package)
            warnings.warn(f"mluops.dropin: {fullname} is not installed; mluops stands for it on the CPU", stacklevel=3)

    def forget(self) -> None:
        """Takes the modules made back out of Python."""
        for name, module in list(sys.modules.items()):
            if is_ours(module):
                del sys.modules[name]
                parent, _, last = name.rpartition(".")
                if vars(sys.modules.get(parent, module)).get(last) is module:
                    delattr(sys.modules[parent], last)


class _ThenReplace(Loader):
    """A module's own loader, and what is to be done once it has run."""

    def __init__(self, loader: Loader, then: Callable[[types.ModuleType], None]) -> None:
        self._loader, self._then = loader, then

    def __getattr__(self, name: str) -> Any:  # what tools ask a loader for: its source, its file
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Optional[types.ModuleType]:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        self._loader.exec_module(module)
        self._then(module)


class _Wanted(NamedTuple):
    function: str
    ours: Callable
    whole: bool  # not for CPU tensors alone


class Replacing(MetaPathFinder):
    """Replaces functions of modules that are loaded, now or later."""

    def __init__(self) -> None:
        self._wanted: Dict[str, List[_Wanted]] = {}
        self._done = Replacements()
        self._finding: Set[str] = set()

    def want(self, door: types.ModuleType) -> None:
        for (module, function), ours in getattr(door, "REPLACES", {}).items():
            wanted = _Wanted(function, ours, getattr(door, "WHOLE", False))
            self._wanted.setdefault(module, []).append(wanted)
            if module in sys.modules:
                self._replace(sys.modules[module], [wanted])

    def _replace(self, module: types.ModuleType, all_wanted: List["_Wanted"]) -> None:
        for function, ours, whole in all_wanted:
            original = vars(module).get(function)
            if original is None or getattr(original, "__wrapped__", None) is ours:
                continue  # another version of the package, or replaced where it came from
            package = module.__name__.split(".")[0]
            self._done.set(module, function, ours if whole else routed(function, ours, original, package))

    def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None, target: Any = None) -> Optional[ModuleSpec]:
        if fullname not in self._wanted or fullname in self._finding:
            return None
        self._finding.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._finding.discard(fullname)
        if spec is None or spec.loader is None:
            return None
        spec.loader = _ThenReplace(spec.loader, lambda module: self._replace(module, self._wanted[fullname]))
        return spec

    def undo(self) -> None:
        self._done.undo()
        self._wanted.clear()
