"""Extensions that programs compile when they are imported: torch.utils.cpp_extension.load and load_inline.

Where torch cannot compile CUDA or has no device for it, an extension with CUDA sources that a door has under its
name, or under those of its sources, is that door's module. So is the CPU's half of an extension (psamask_cpu), which a door
names: such sources are as old as the program. Everything else goes to torch's own function."""

import functools
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any, Callable, List, Sequence

import torch

from . import _naming

_CUDA = (".cu", ".cuh")


def compiles_cuda() -> bool:
    """Whether this torch has a CUDA device, to run what is compiled, and finds its compiler."""
    from torch.utils import cpp_extension
    home = getattr(cpp_extension, "CUDA_HOME", None)
    if torch.version.cuda is None or home is None or not torch.cuda.is_available():
        return False
    return any(Path(home, "bin", name).is_file() for name in ("nvcc", "nvcc.exe"))


class Building:
    """Wraps the functions of torch."""

    def __init__(self, finder: Any) -> None:
        self._finder = finder
        self.WRAPS = {("torch.utils.cpp_extension", "load"): self._load,
                      ("torch.utils.cpp_extension", "load_inline"): self._load_inline}

    def _module(self, name: str, sources: Sequence[str]) -> ModuleType:
        door = _naming.built(self._finder.doors, name, sources)
        if door is not None:
            return self._finder.module_for(name, door)
        known = sorted({built for each in self._finder.doors for built in getattr(each, "BUILT", ())})
        raise NotImplementedError(f"{name}: CUDA cannot be compiled here, and mluops has no module for the extension "
                                  f"{name} ({', '.join(PurePath(s).name for s in sources) or 'inline sources'}); it has "
                                  f"{', '.join(known)}")

    def _load(self, original: Callable) -> Callable:
        @functools.wraps(original)
        def load(name: str, sources: Any, *args: Any, **kwargs: Any) -> Any:
            files: List[str] = [str(each) for each in ([sources] if isinstance(sources, (str, PurePath)) else sources)]
            cuda = kwargs.get("with_cuda") or any(file.endswith(_CUDA) for file in files) or _naming.is_cpu_half(
                self._finder.doors, name)
            if not cuda or compiles_cuda():
                return original(name, sources, *args, **kwargs)
            return self._module(name, files)

        return load

    def _load_inline(self, original: Callable) -> Callable:
        @functools.wraps(original)
        def load_inline(name: str, cpp_sources: Any, cuda_sources: Any = None, *args: Any, **kwargs: Any) -> Any:
            if not (cuda_sources or kwargs.get("with_cuda")) or compiles_cuda():
                return original(name, cpp_sources, cuda_sources, *args, **kwargs)
            return self._module(name, ())

        return load_inline
