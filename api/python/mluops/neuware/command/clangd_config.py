"""write .clangd, so that clangd and editors that use it understand BANG C

The file holds for its folder and those below: .mlu files are read as BANG C, and C and C++ files find the toolchain's
headers. With --torch, .mlu files are kernels for torch tensors."""

import argparse
import importlib.util
import json
import shlex
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import List, Optional

from .. import home

_MARK = "# Written by python -m mluops.neuware clangd-config, and replaced by it as long as this line is here."
_PACKAGE = Path(__file__).resolve().parents[2]
_AS_CUDA = ["-xcuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-U__CUDACC__", "-Wno-unknown-cuda-version",
            "-Wno-unknown-pragmas", "-std=c++17"]
# What cncc takes and clang refuses: launches of what clang wants marked __global__, `condition ? 0 : half`.
_TAKEN = ["kern_call_not_global_function", "conditional_ambiguous"]


def _macros(arch: Optional[str]) -> List[str]:
    """Those that cncc defines for the architecture."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.mlu"
        source.touch()
        chosen = [f"--bang-mlu-arch={arch}"] if arch else []
        done = subprocess.run([str(home() / "bin" / "cncc"), *chosen, "-v", "-M", str(source), "-o", f"{source}.d"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise ValueError(f"--arch {arch}: {done.stdout.strip()}")
    words = shlex.split(done.stdout.splitlines()[0])
    return [word for word in words if word.startswith("-D__")]


def _of_torch() -> List[str]:
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise ValueError("--torch: torch is not installed")
    include = Path(found.origin).parent / "include"
    places = [_PACKAGE / "mlu" / "include", include, include / "torch" / "csrc" / "api" / "include",
              sysconfig.get_path("include")]
    return [f"-isystem{place}" for place in places]


def _yaml(values: List[str]) -> str:
    return "[" + ", ".join(map(json.dumps, values)) + "]"


def config(arch: Optional[str] = None, torch: bool = False) -> str:
    """The text of .clangd."""
    # Not -isystem: of its headers clang offers no names with two underscores.
    headers = [*(_of_torch() if torch else []), f"-I{home() / 'include'}"]
    bang = [*_AS_CUDA, *_macros(arch), *headers, f"-include{_PACKAGE / 'neuware' / 'editors.h'}"]
    return "\n".join([_MARK, "If:", r"  PathMatch: .*\.mluh?", "CompileFlags:", f"  Add: {_yaml(bang)}", "Diagnostics:",
                      f"  Suppress: {_yaml(_TAKEN)}", "---", "If:", r"  PathMatch: .*\.(c|cc|cpp|cxx|h|hpp)",
                      "CompileFlags:", f"  Add: {_yaml(headers)}", ""])


def main(arguments: List[str]) -> Optional[int]:
    parser = argparse.ArgumentParser(prog="python -m mluops.neuware clangd-config", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("."), help="where .clangd is written (here)")
    parser.add_argument("--arch", help="as cncc's --bang-mlu-arch (mtp_372)")
    parser.add_argument("--torch", action="store_true", help="with torch's headers and those of device mlu")
    parsed = parser.parse_args(arguments)
    if not parsed.folder.is_dir():
        parser.error(f"no such folder: {parsed.folder}")
    try:
        text = config(parsed.arch, parsed.torch)
    except ValueError as error:
        parser.error(str(error))
    path = parsed.folder / ".clangd"
    if path.exists() and not path.read_text(errors="replace").startswith(_MARK):
        parser.exit(1, f"{path} is yours and stays as it is; add this to it:\n---\n{text}")
    path.write_text(text)
    print(path)
    return None
