"""The host's compiler and torch's headers and libraries."""

import functools
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import List, Sequence

import torch
from torch.utils import cpp_extension as of_torch

from ..neuware import home

INCLUDE = Path(__file__).parent / "include"


class CompileError(RuntimeError):
    """A compiler's command that failed, with what it printed."""


def run(command: Sequence[str], verbose: bool = False) -> None:
    if verbose:
        print(" ".join(command), flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        raise CompileError(f"{Path(command[0]).name} failed ({done.returncode}): {' '.join(command)}\n{done.stdout}")
    if verbose and done.stdout:
        print(done.stdout, end="", flush=True)


def host() -> str:
    """The C++ compiler: of the environment (CXX), else g++, else clang++."""
    for name in (os.environ.get("CXX"), "g++", "clang++", "c++"):
        if name and shutil.which(name.split()[0]):
            return name
    raise RuntimeError("device mlu needs a C++ compiler, and there is none: install g++ (Debian: apt install g++; "
                       "conda: conda install gxx) or set CXX")


@functools.lru_cache(maxsize=None)
def version(compiler: str) -> str:
    return subprocess.run([*compiler.split(), "-v"], stderr=subprocess.PIPE, text=True).stderr


def is_gcc(compiler: str) -> bool:
    return "gcc version" in version(compiler)


def include_paths() -> List[str]:
    """Include folders: those of device mlu first, then torch's, the runtime's and Python's."""
    return [str(INCLUDE), *of_torch.include_paths(), str(home() / "include"), sysconfig.get_path("include")]


def library_paths() -> List[str]:
    return [*of_torch.library_paths(), str(home() / "lib64")]


def abi_flags() -> List[str]:
    return [f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"]


def of_installation() -> List[str]:
    """The inputs of compiled code besides its sources."""
    return [torch.__version__, torch.__file__, version(host()), str(home()),
            *(path.read_text() for folder in (INCLUDE, home() / "include") for path in sorted(folder.rglob("*.h")))]
