"""python -m mluops.dropin [--cuda-calls] [-m MODULE | SCRIPT] ARGS...: runs a program after install().
python -m mluops.dropin: what mluops can stand for, and who has it here."""

import importlib.util
import runpy
import sys
from pathlib import Path

from . import _doors, install

_USAGE = "usage: python -m mluops.dropin [--cuda-calls] [-m MODULE | SCRIPT] ARGS..."


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:  # its package is not installed
        return False


def _table() -> None:
    """Each module, who has it here, and how many names it has."""
    for door in sorted(_doors().values(), key=lambda door: door.PACKAGE.lower()):
        for name in getattr(door, "NAMES", (door.PACKAGE,))[:1]:
            who = "installed" if _installed(name) else "mluops, where it is asked for"
            print(f"{door.PACKAGE:30} {name:35} {len(door.__all__):3} names  {who}")


def main() -> None:
    arguments = sys.argv[1:]
    cuda_calls = arguments[:1] == ["--cuda-calls"]
    del arguments[:cuda_calls]
    if not arguments:
        print(_USAGE + "\n")
        _table()
        return
    as_module = arguments[0] == "-m"
    if arguments[0].startswith("-") and not (as_module and len(arguments) > 1):
        sys.exit(_USAGE)
    install(cuda_calls=cuda_calls)
    if as_module:
        sys.argv = arguments[1:]
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
