"""The C++ between torch and the emulated machine: compiled once for each torch, loaded once."""

import ctypes
import functools
import os
from pathlib import Path

import torch

from . import _cache, _compiler
from .. import _compiling
from ..neuware import home

OLDEST = (2, 7)
_LIBRARY = "libmluops_torch.so"
_SOURCES = ("bindings.cpp", "memory.cpp", "device.cpp", "operators.cpp", "autocast.cpp")


def _check_torch() -> None:
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST:
        raise ImportError(f"device mlu needs torch {'.'.join(map(str, OLDEST))} or later, this is {torch.__version__}: "
                          "pip install --upgrade torch")


_check_torch()  # before what it lacks is named


def _check_runtime() -> None:
    header = home() / "include" / "cnrt.h"
    if "cnrtExtTakeFault" not in header.read_text():
        raise ImportError(f"{header} is not of the emulated machine's toolchain, which comes with mluops: {home()}")


def _compile(folder: Path) -> None:
    sources = Path(__file__).parent / "csrc"
    whole = folder / "glue.cpp"
    whole.write_text("".join(f'#include "{sources / name}"\n' for name in _SOURCES))
    libraries = str(home() / "lib64")
    command = [*_compiler.host().split(), _compiling.standard(torch.__version__), "-O1", "-fPIC", "-shared",
               "-DAT_PER_OPERATOR_HEADERS", *_compiler.abi_flags(), f"-I{sources}",
               *(f"-isystem{path}" for path in _compiler.include_paths()), str(whole), "-o",
               str(folder / _LIBRARY), *(f"-L{path}" for path in _compiler.library_paths()),
               "-lc10", "-ltorch_cpu", "-ltorch_python", "-lcnrt", "-lcndrv", f"-Wl,-rpath,{libraries}"]
    _compiler.run(command)


@functools.lru_cache(maxsize=None)
def load() -> ctypes.CDLL:
    _check_runtime()
    sources = sorted((Path(__file__).parent / "csrc").iterdir())
    key = _cache.key_of([*_compiler.of_installation(), *(source.read_bytes() for source in sources)])

    def made() -> Path:
        return _cache.entry(f"torch-{torch.__version__}-{key}", _compile,
                            f"compiling device mlu for torch {torch.__version__}, once (a minute)", [_LIBRARY])

    folder = made()
    try:
        library = ctypes.CDLL(str(folder / _LIBRARY), mode=os.RTLD_GLOBAL)
    except OSError:  # a file that a full disk or a power cut left broken
        _cache.forget(folder)
        library = ctypes.CDLL(str(made() / _LIBRARY), mode=os.RTLD_GLOBAL)
    for name in ("mluops_torch_memory_allocated", "mluops_torch_max_memory_allocated"):
        getattr(library, name).restype = ctypes.c_size_t
    library.mluops_torch_elapsed.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.mluops_torch_elapsed.restype = ctypes.c_double
    return library
