"""Which door an extension's name means. Programs give extensions of the same functions different endings: iou3d_op is
iou3d_cuda, nms_rotated_ext is nms_rotated_cuda."""

from fnmatch import fnmatchcase
from pathlib import PurePath
from types import ModuleType
from typing import Dict, Iterable, Iterator, List, Optional, Sequence

_ENDINGS = ("_kernel", "_cuda", "_cpu", "_gpu", "_ext", "_api", "_op", "_ops", "_plugin", "_layer", "_backend", "_forward",
            "_backward")
_TELL_NOTHING = ("", "_c", "_ext", "ext", "op", "ops", "cuda", "cpu", "gpu", "backend", "kernel", "plugin")
_CUDA = (".cu", ".cuh")


def plain(name: str) -> str:
    """A name without what tells the kind of code: fused_bias_act_kernel is fused_bias_act."""
    name = name.lower()
    for ending in _ENDINGS:
        if name.endswith(ending) and len(name) > len(ending):
            return plain(name[:-len(ending)])
    return name


def has_pattern(door: ModuleType, name: str, patterns: str = "NAMES") -> bool:
    return any(fnmatchcase(name, pattern) for pattern in getattr(door, patterns, ()))


def _extensions(door: ModuleType) -> Iterator[str]:
    """The names of a door's extensions, without their packages."""
    yield from getattr(door, "BUILT", ())
    if not getattr(door, "OF_OUR_PACKAGE", False):
        for pattern in getattr(door, "NAMES", ()):
            name = pattern[2:] if pattern.startswith("*.") else pattern
            if "." not in name and "*" not in name:
                yield name


def _of_plain(doors: Iterable[ModuleType], name: str) -> Optional[ModuleType]:
    """The only door with an extension that differs from a name by its ending."""
    found: Dict[str, ModuleType] = {door.__name__: door for door in doors
                                    if any(plain(each) == name for each in _extensions(door))}
    return next(iter(found.values())) if len(found) == 1 and name not in _TELL_NOTHING else None


def renamed(doors: Iterable[ModuleType], fullname: str) -> Optional[ModuleType]:
    """The door of a module that has an extension's ending, but not the one that we know."""
    last = fullname.rpartition(".")[2]
    return None if plain(last) == last.lower() else _of_plain(doors, plain(last))


def _in_folder(doors: Sequence[ModuleType], name: str, sources: Sequence[str]) -> Optional[ModuleType]:
    """For _ext and the like: the door of that name in a package that one of the sources' folders is named after."""
    folders = [part for source in sources[:1] for part in reversed(PurePath(source).parent.parts)]
    return next((door for folder in folders for door in doors if has_pattern(door, f"{folder}.{name}")), None)


def built(doors: Sequence[ModuleType], name: str, sources: Sequence[str] = ()) -> Optional[ModuleType]:
    """The door of an extension that a program compiles: by its name, or else by the names of its sources."""
    if name.lower() in _TELL_NOTHING:
        found = _in_folder(doors, name, sources)
        if found is not None:
            return found
    exact = [door for door in doors if name in getattr(door, "BUILT", ()) or has_pattern(door, name)]
    if exact:
        return exact[0]
    by_kind: List[str] = sorted(sources, key=lambda source: not source.endswith(_CUDA))  # the kernels' files tell more
    of_sources = (_built_of(doors, PurePath(source).stem) for source in by_kind)
    return _of_plain(doors, plain(name)) or next(filter(None, of_sources), None)


def _built_of(doors: Iterable[ModuleType], stem: str) -> Optional[ModuleType]:
    """A source's name alone tells less than an extension's: only what programs are known to compile."""
    known = {each: door for door in doors for each in getattr(door, "BUILT", ())}
    return known.get(stem) or {plain(each): door for each, door in known.items()}.get(plain(stem))


def is_cpu_half(doors: Iterable[ModuleType], name: str) -> bool:
    """Whether a door has an extension of sources for the CPU alone under this name."""
    return name.endswith("_cpu") and any(name in getattr(door, "BUILT", ()) for door in doors)
