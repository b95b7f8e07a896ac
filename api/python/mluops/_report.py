"""The output of `python -m mluops`: versions, library, backends, operators. Everything is queried or tried now, in this
process; nothing is known beforehand."""

import importlib
import importlib.util
import platform
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

from . import _compiling, _listing, _settings
from . import op as _op
from ._context import Context, settings
from ._devices import serves
from ._errors import MluOpError
from ._library import lib, trying

_DTYPES = ("float16", "bfloat16", "float32", "float64")


def _seen(name: str) -> str:
    """Version of a package; "" if it is not here, its error if it cannot be imported."""
    if importlib.util.find_spec(name) is None:
        return ""
    try:
        return str(getattr(importlib.import_module(name), "__version__", "?"))
    except Exception as error:  # a package built for another torch, say
        return f"cannot be imported: {error}"


def _refusal(name: str) -> str:
    """Why a backend cannot be used here; "" if it can."""
    chosen, settings.backend = settings.backend, name
    try:
        Context().close()
        return ""
    except MluOpError as error:
        return error.text
    finally:
        settings.backend = chosen


def _answer(key: str) -> str:
    try:
        return _settings.query(key)
    except MluOpError:
        return ""


def _works(call: Callable[[], Any]) -> bool:
    try:
        call()
        return True
    except (MluOpError, TypeError):
        return False


def _numpy_dtypes(smallest: Callable, contract: str) -> List[str]:
    """The dtypes in which an operator's smallest call runs."""
    import numpy as np
    with _settings.using(contract=contract):
        return [name for name in _DTYPES if name != "bfloat16" and _works(lambda: smallest(
            lambda *shape: np.ones(shape, name), lambda *shape: np.zeros(shape, np.int32)))]


def _torch_dtypes(smallest: Callable) -> List[str]:
    import torch
    return [name for name in _DTYPES if _works(lambda: smallest(
        lambda *shape: torch.ones(shape, dtype=getattr(torch, name)),
        lambda *shape: torch.zeros(shape, dtype=torch.int32)))]


def operators() -> Dict[str, Dict[str, List[str]]]:
    """{operator: {door: dtypes}} on the backend in use."""
    rows: Dict[str, Dict[str, List[str]]] = {}
    for module in _listing.modules(_op):
        for name, smallest in module.SMALLEST.items():
            rows.setdefault(name, {}).update(
                {"numpy": _numpy_dtypes(smallest, "strict"), "numpy, extended": _numpy_dtypes(smallest, "extended")})
    if _seen("torch")[:1].isdigit():
        from .torch._smallest import smallest_calls
        for name, smallest in smallest_calls().items():
            rows.setdefault(name, {})["torch"] = _torch_dtypes(smallest)
    return rows


def _devices() -> str:
    """Devices of torch whose tensors are served."""
    if not _seen("torch")[:1].isdigit():
        return ""
    cuda = "" if serves("cuda") else "; cuda after mluops.torch.cpu_fallback(cuda=True)"
    return f"cpu; by way of the CPU any other (mps, xpu ...){cuda}"


def report() -> Dict[str, Any]:
    return {
        "mluops": _settings.version(), "library": lib._name, "python": platform.python_version(),
        "machine": f"{platform.machine()}, {platform.system()} {platform.release()}",
        "numpy": _seen("numpy"), "torch": _seen("torch"), "mmcv": _seen("mmcv"),
        "backend": _settings.backend(), "isa": _answer("isa"), "threading": _answer("threading"),
        "threads": _settings.num_threads(), "devices": _devices(),
        "backends": {name: {"description": line, "unusable": _refusal(name)}
                     for name, line in _settings.backends().items()},
        "operators": operators(),
    }


def text(facts: Dict[str, Any]) -> str:
    lines = [f"{name:10} {facts[name] or 'not here'}" for name in (
        "mluops", "library", "python", "machine", "numpy", "torch", "mmcv", "backend", "isa", "threading", "threads",
        "devices")]
    lines += ["", "backends"]
    for name, row in facts["backends"].items():
        why = f"; unusable: {row['unusable']}" if row["unusable"] else ""
        lines.append(f"  {name:10} {row['description']}{why}")
    lines += ["", "operators (dtypes that run on the backend in use, behind each door)"]
    for name, doors in facts["operators"].items():
        lines += [f"  {name}"] + [f"    {door:16} {', '.join(dtypes) or 'none'}" for door, dtypes in doors.items()]
    return "\n".join([*lines, "", "operators of the library (python -m mluops --operators)", table()])


def table() -> str:
    """The table of operators, as `./run bench --operators` prints it."""
    return (Path(__file__).parent / "operators.txt").read_text().rstrip("\n")


def _facts() -> Dict[str, Any]:
    with trying():
        return report()


def _json() -> str:
    import json
    return json.dumps(_facts(), indent=2)


# By the arguments of the command.
_ANSWERS: Dict[Tuple[str, ...], Callable[[], str]] = {
    (): lambda: text(_facts()), ("--json",): _json, ("--operators",): table, ("--version",): _settings.version,
    ("--cflags",): _compiling.cflags, ("--libs",): _compiling.libs,
    ("--cflags", "--libs"): lambda: f"{_compiling.cflags()} {_compiling.libs()}",
}
_USAGE = "usage: python -m mluops [--json | --operators | --version | --cflags | --libs | --cflags --libs]"
_HELP = _USAGE + """

Without an option: versions, library path, backends, instruction set, threads, and the data types of each operator.
  --json             the same as JSON
  --operators        table of operators: C functions, backends, data types, layouts, and which modules have them
  --version          version of the library
  --cflags, --libs   options for a C compiler that builds a program with this package's headers and library"""


def main(arguments: List[str]) -> int:
    if arguments in (["--help"], ["-h"]):
        print(_HELP)
        return 0
    answer = _ANSWERS.get(tuple(arguments))
    if answer is None:
        print(_USAGE, file=sys.stderr)
        return 2
    try:
        print(answer())
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
