"""python -m mluops.dropin [--cuda-calls] [--old-names] [--torch-mlu] [-m MODULE | SCRIPT] ARGS...: runs a program after
install(). The program gets torch_mlu, too, if its file, a file beside it that it imports, or a file among ARGS names it,
or with --torch-mlu. python -m mluops.dropin: lists the modules that mluops can provide, and which are installed."""

import importlib.util
import re
import runpy
import sys
from pathlib import Path
from typing import List

from . import _doors, _stand_for, install

_USAGE = "usage: python -m mluops.dropin [--cuda-calls] [--old-names] [--torch-mlu] [-m MODULE | SCRIPT] ARGS..."
_HELP = _USAGE + """

Runs a Python program with the CUDA extension modules that it imports provided by mluops, on the CPU.
  --cuda-calls  let tensors and models that the program sends to CUDA stay on the CPU
  --old-names   bring back names that Python, numpy, torch, torchvision and Pillow have removed
  --torch-mlu   provide torch_mlu, too, also if no file of the program names it
  -m MODULE     run a module, as python -m does
Without arguments: list the modules that mluops can provide, and which of them are installed."""
_OPTIONS = ("--cuda-calls", "--old-names", "--torch-mlu")


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:  # its package is not installed
        return False


def _table() -> None:
    """Each module, who provides it here, and how many names it has."""
    for door in sorted(_doors().values(), key=lambda door: door.PACKAGE.lower()):
        for name in getattr(door, "NAMES", (door.PACKAGE,))[:1]:
            who = "installed" if _installed(name) else "mluops, on request"
            print(f"{door.PACKAGE:30} {name:35} {len(door.__all__):3} names  {who}")


_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([\w., \t]+)", re.MULTILINE)


def _text(file: Path) -> bytes:
    """The text of a file; nothing if it cannot be read."""
    try:
        return file.read_bytes() if file.is_file() else b""
    except (OSError, ValueError):  # a name no file can have
        return b""


def _imported(text: bytes, folder: Path) -> List[Path]:
    """The files in a folder that a program's text imports."""
    parts = [part for found in _IMPORT.findall(text) for part in found.split(b" import ")[0].split(b",")]
    names = {name.group().decode() for name in map(re.compile(rb"[A-Za-z_]\w*").search, parts) if name}
    return [folder / f"{name}.py" for name in sorted(names)]


def _names_torch_mlu(program: Path, arguments: List[str]) -> bool:
    """Whether a program's file, one beside it that it imports, or one that it is given does."""
    files = [program] + [Path(each.partition("::")[0]) for each in arguments if ".py" in each]
    seen = set(files)
    while files:
        text = _text(files.pop())
        if b"torch_mlu" in text:
            return True
        beside = [file for file in _imported(text, program.parent) if file not in seen]
        seen.update(beside)
        files += beside
    return False


def _file_of(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    return Path((spec.origin if spec is not None else None) or "")


def main() -> None:
    arguments = sys.argv[1:]
    options = set()
    while arguments and arguments[0] in _OPTIONS:
        options.add(arguments.pop(0))
    if not arguments:
        print(_USAGE + "\n")
        _table()
        return
    if arguments[0] in ("-h", "--help"):
        print(_HELP)
        return
    as_module = arguments[0] == "-m"
    if arguments[0].startswith("-") and not (as_module and len(arguments) > 1):
        sys.exit(_USAGE)
    install(cuda_calls="--cuda-calls" in options, old_names="--old-names" in options)
    if as_module:
        sys.argv = arguments[1:]
        sys.path.insert(0, "")
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
    program = _file_of(arguments[1]) if as_module else Path(arguments[0])
    if "--torch-mlu" in options or _names_torch_mlu(program, sys.argv[1:]):
        _stand_for({"torch_mlu": _doors()["torch_mlu"]})  # imported, and so made, by the program alone
    if as_module:
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
