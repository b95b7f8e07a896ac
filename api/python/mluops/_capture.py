"""Calls kept as files that mluops_replay runs again."""

import contextlib
import os
from pathlib import Path
from typing import Iterable, Iterator, List, Optional, Tuple, Union

from ._library import check, lib

# The settings outside every `capture` block: those of the environment.
_Setting = Tuple[Optional[bytes], Optional[bytes], int, int]
_outer: List[_Setting] = []


def _of_the_environment() -> _Setting:
    def number(name: str, default: int) -> int:
        text = os.environ.get(name, "")
        return int(text) if text.isdigit() else default

    operators = os.environ.get("MLUOP_CAPTURE_OP", "").encode() or None
    folder = os.environ.get("MLUOP_CAPTURE", "")
    usable = os.path.isdir(folder) and os.access(folder, os.W_OK)  # else the library has said so
    return (os.fsencode(folder) if usable else None, operators,
            number("MLUOP_CAPTURE_CALLS", 1000), number("MLUOP_CAPTURE_BYTES", 64 << 20))


@contextlib.contextmanager
def capture(folder: Union[str, "os.PathLike[str]"], ops: Union[str, Iterable[str]] = (), limit: int = 64 << 20,
            data: bool = True, calls: int = 1000) -> Iterator[Path]:
    """Keeps the calls of a with block as files in the folder, which is made: numpy's, torch's and mmcv's, of every thread.

    ops are parts of operators' names, all by default. Of tensors above `limit` bytes, and of all with data=False, only
    a hash is kept; at most `calls` files are written. `mluops_replay FILE..` runs them again, on any backend.
    Raises BadParamError where a number is negative, OSError where the folder cannot be made.
    """
    path = Path(folder).absolute()
    path.mkdir(parents=True, exist_ok=True)
    names = ops if isinstance(ops, str) else ",".join(ops)
    setting: _Setting = (os.fsencode(path), names.encode() or None, calls, limit if data else min(limit, 0))
    check(lib.mluOpExtSetCapture(*setting))
    _outer.append(setting)
    try:
        yield path
    finally:
        _outer.pop()
        check(lib.mluOpExtSetCapture(*(_outer[-1] if _outer else _of_the_environment())))
