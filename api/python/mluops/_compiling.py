"""What a C or C++ compiler needs to find the headers and the library of this package."""

import re
import shlex
import sys
from pathlib import Path

from ._library import lib


def _headers() -> Path:
    """The folder of mlu_op.h: beside this package, where packages are installed, or in a checkout."""
    package = Path(__file__).resolve().parent
    folders = [package / "include", *(Path(entry) / "mluops" / "include" for entry in sys.path),
               package.parents[1] / "include"]
    for folder in folders:
        if (folder / "mlu_op.h").exists():
            return folder
    raise FileNotFoundError(f"mlu_op.h was not found beside {package}")


def standard(torch_version: str) -> str:
    """The C++ that the headers of a torch are written in."""
    version = tuple(map(int, re.match(r"(\d+)\.(\d+)", torch_version).groups()))  # type: ignore[union-attr]
    return "-std=c++20" if version >= (2, 14) else "-std=c++17"


def cflags() -> str:
    return shlex.quote(f"-I{_headers()}")


def libs() -> str:
    """The library by its path, which is also where programs look for it when they start."""
    library = Path(lib._name)
    if not library.exists():  # found by the loader in a folder that the linker searches too
        return f"-l:{library}"
    library = library.absolute()
    return f"{shlex.quote(str(library))} {shlex.quote(f'-Wl,-rpath,{library.parent}')}"
