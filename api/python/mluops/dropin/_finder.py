"""Modules that stand for others that are not installed.

The finder is the last of sys.meta_path: it is asked for what nobody else found, so a module that is installed is never
hidden. A second one, the first of sys.meta_path, has functions replaced in modules of other packages once they are
loaded (REPLACES of a door, module/__init__.py)."""

import importlib
import importlib.util
import sys
import types
import warnings
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from .._replacing import Replacements, routed
from . import _asking, _naming
from ._missing import missing
from ._telling import telling

_OURS = "__mluops_door__"


def is_ours(module: Optional[types.ModuleType]) -> bool:
    return module is not None and _OURS in vars(module)


def _has(name: str, door: types.ModuleType) -> str:
    return f"{name} is not installed and mluops stands for it on the CPU; it has {', '.join(sorted(door.__all__))}"


def _lacks(name: str, door: types.ModuleType, doors: Sequence[types.ModuleType]) -> str:
    """Said of a module that we have nothing of."""
    others = sorted({pattern for each in doors if each.PACKAGE == door.PACKAGE for pattern in getattr(each, "NAMES", ())})
    return f"{name} is not installed and mluops has no operator for it; of {door.PACKAGE} it has {', '.join(others)}"


def _done_without(parent: Optional[types.ModuleType]) -> bool:
    """Whether the importing program has a fallback for the module, or only probes for it. False inside a package of ours."""
    return not is_ours(parent) and (_asking.probing() or _asking.has_fallback(_asking.asking(2)))


def _is_folder(spec: Optional[ModuleSpec]) -> bool:
    """Whether all that was found is a folder without an __init__.py: the sources of an extension, next to the program."""
    return spec is not None and spec.origin is None and bool(spec.submodule_search_locations) and (
        spec.loader is None or type(spec.loader).__name__ in ("NamespaceLoader", "_NamespaceLoader"))


def _is_file(name: str, parent: types.ModuleType) -> bool:
    """Whether a module of this name is in the folder that a module of ours stands for."""
    return bool(parent.__path__) and PathFinder.find_spec(name, parent.__path__) is not None


class _DoorLoader(Loader):
    """Fills a module with the names of a door. Others are its modules, or stand for what we lack where a program imports
    them, or raise with the list of what is there."""

    def __init__(self, finder: "StandIns", door: types.ModuleType, served: bool = True) -> None:
        self._finder, self._door, self._served = finder, door, served

    def _why(self, module: types.ModuleType, name: str) -> str:
        if self._served:
            return f"{_has(module.__name__, self._door)}: no {name}"
        return f"{_lacks(module.__name__, self._door, self._finder.doors)}: no {name}"

    def exec_module(self, module: types.ModuleType) -> None:
        def __getattr__(name: str) -> Any:
            within = f"{module.__name__}.{name}"
            if self._served and (self._finder.door_of(within) is not None or _is_file(within, module)):
                return importlib.import_module(within)
            why, frame = self._why(module, name), _asking.asking(1)
            if name.startswith("__") or not _asking.while_importing(frame) or _asking.has_fallback(frame):
                raise AttributeError(why)
            return missing(within, why)

        names = self._door.__all__ if self._served else ()
        functions = {name: getattr(self._door, name) for name in names}
        if hasattr(self._door, "within"):
            functions.update(self._door.within(sys.modules.get(module.__name__.rpartition(".")[0])))
        vars(module).update({name: telling(f"{module.__name__}.{name}", each) for name, each in functions.items()})
        vars(module).update({_OURS: self._door, "__doc__": self._door.__doc__, "__all__": list(names),
                             "__getattr__": __getattr__})
        if self._served:
            getattr(self._door, "loaded", bool)()


class StandIns(MetaPathFinder):
    """Finds the modules that the doors stand for."""

    def __init__(self) -> None:
        self.doors: List[types.ModuleType] = []
        self._told: Set[str] = set()

    def door_of(self, name: str, patterns: str = "NAMES") -> Optional[types.ModuleType]:
        return next((door for door in self.doors if _naming.has_pattern(door, name, patterns)), None)

    def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None, target: Any = None) -> Optional[ModuleSpec]:
        parent = sys.modules.get(fullname.rpartition(".")[0])
        door = self.door_of(fullname)
        if door is not None and not (getattr(door, "UNLESS_FALLBACK", False) and _done_without(parent)):
            return self._spec(fullname, parent, door, True)
        unserved = self.door_of(fullname, "UNSERVED") if door is None else None
        if unserved is not None and not _done_without(None):
            return self._spec(fullname, parent, unserved, False)
        if is_ours(parent):
            raise ModuleNotFoundError(f"{_has(parent.__name__, vars(parent)[_OURS])}: no {fullname}", name=fullname)
        renamed = _naming.renamed(self.doors, fullname)
        if renamed is not None and not _done_without(parent):
            return self._spec(fullname, parent, renamed, True)
        return None

    def over_folder(self, fullname: str, folder: ModuleSpec) -> ModuleSpec:
        """A door's module in the place of a folder, whose files are its modules."""
        door, parent = self.door_of(fullname), sys.modules.get(fullname.rpartition(".")[0])
        if getattr(door, "UNLESS_FALLBACK", False) and _done_without(parent):
            return folder
        made = self._spec(fullname, parent, door, True)
        if made is None:
            return folder
        made.submodule_search_locations = list(folder.submodule_search_locations)
        return made

    def _spec(self, fullname: str, parent: Optional[types.ModuleType], door: types.ModuleType,
              served: bool) -> Optional[ModuleSpec]:
        if parent is not None and not is_ours(parent) and getattr(door, "OF_OUR_PACKAGE", False):
            return None  # another version of the package
        self._tell(fullname, served)
        return ModuleSpec(fullname, _DoorLoader(self, door, served), is_package=True)

    def module_for(self, name: str, door: types.ModuleType) -> types.ModuleType:
        """A door's module under a name that the program chose."""
        self._tell(name, True)
        module = importlib.util.module_from_spec(ModuleSpec(name, _DoorLoader(self, door), is_package=True))
        module.__spec__.loader.exec_module(module)
        sys.modules.setdefault(name, module)
        return module

    def _tell(self, fullname: str, served: bool) -> None:
        package = fullname.split(".")[0]
        if package not in self._told:
            self._told.add(package)
            stands = "mluops stands for it on the CPU" if served else "mluops has nothing of it but its name"
            warnings.warn(f"mluops.dropin: {fullname} is not installed; {stands}", stacklevel=4)

    def forget(self) -> None:
        """Takes the modules made back out of Python, and forgets what was told."""
        self._told.clear()
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
    whole: bool = False  # not for CPU tensors alone
    wraps: bool = False  # ours makes the function from the original


class Replacing(MetaPathFinder):
    """Replaces functions of modules that are loaded, now or later, and folders that have the name of an extension."""

    def __init__(self, stand_ins: StandIns) -> None:
        self._stand_ins = stand_ins
        self._wanted: Dict[str, List[_Wanted]] = {}
        self._done = Replacements()
        self._finding: Set[str] = set()
        self._fails: Dict[str, types.ModuleType] = {}

    def want(self, door: types.ModuleType) -> None:
        for (module, function), ours in getattr(door, "REPLACES", {}).items():
            self._add(module, _Wanted(function, ours, getattr(door, "WHOLE", False)))
        for (module, function), wrap in getattr(door, "WRAPS", {}).items():
            self._add(module, _Wanted(function, wrap, wraps=True))
        self._fails.update(dict.fromkeys(getattr(door, "FAILS", ()), door))

    def _add(self, module: str, wanted: _Wanted) -> None:
        self._wanted.setdefault(module, []).append(wanted)
        if module in sys.modules:
            self._replace(sys.modules[module], [wanted])

    def _replace(self, module: types.ModuleType, all_wanted: List["_Wanted"]) -> None:
        for function, ours, whole, wraps in all_wanted:
            original = vars(module).get(function)
            if original is None or getattr(original, "__wrapped__", None) is ours:
                continue  # another version of the package, or replaced where it came from
            package = module.__name__.split(".")[0]
            if wraps:
                self._done.set(module, function, ours(original))
            else:
                self._done.set(module, function, ours if whole else routed(function, ours, original, package))

    def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None, target: Any = None) -> Optional[ModuleSpec]:
        if fullname in self._fails:
            self._fail(fullname)
        if self._stand_ins.door_of(fullname) is not None:
            folder = PathFinder.find_spec(fullname, path)
            if _is_folder(folder):
                return self._stand_ins.over_folder(fullname, folder)
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

    def _fail(self, fullname: str) -> None:
        """For a module that its importers do without, and that would fail later with what we have."""
        door = self._fails[fullname]
        spec = importlib.util.find_spec(door.NAMES[0])
        if spec is not None and isinstance(spec.loader, _DoorLoader):
            raise ModuleNotFoundError(f"{fullname}: {_has(door.NAMES[0], door)}", name=fullname)

    def undo(self) -> None:
        self._done.undo()
        self._wanted.clear()
        self._fails.clear()
