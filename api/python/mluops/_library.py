"""Finds libmluops, loads it and declares the C functions this package calls. ctypes releases the GIL in each call."""

import contextlib
import ctypes
import os
import sys
import threading
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Callable, Iterator

from ._errors import error_for
from ._trust import why_not_trusted

LIBRARY_VARIABLE = "MLUOPS_LIBRARY"
_NAME = {"win32": "libmluops-1.dll", "darwin": "libmluops.1.dylib"}.get(sys.platform, "libmluops.so.1")


def _find() -> str:
    """Path of the shared object: MLUOPS_LIBRARY, else the one of the wheel, else that of the environment (conda installs
    the library apart from the package), else whatever the loader finds. An editable install has it where packages are
    installed, apart from this file."""
    chosen = os.environ.get(LIBRARY_VARIABLE)
    if chosen:
        if os.path.dirname(chosen):
            _demand_trusted(chosen)
        return chosen
    packages = (Path(__file__).parent, *(Path(entry) / "mluops" for entry in sys.path))
    for folder in (*packages, Path(sys.prefix)):
        installed = folder / "lib" / _NAME
        if installed.exists():
            return str(installed)
    return _NAME


def _demand_trusted(chosen: str) -> None:
    why = why_not_trusted(chosen) if os.path.exists(chosen) else ""  # the loader says what is missing
    if why:
        raise ImportError(f"{LIBRARY_VARIABLE}: {chosen}: its code is not run: {why}")


def _load() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"cannot load {path}: {error}. Install the mluops wheel, or set {LIBRARY_VARIABLE} "
                          f"to the path of {_NAME}.") from error


path = _find()
lib = _load()

# Functions that return a status, with their arguments; those of operators are declared beside them (_function.py).
_STATUS_FUNCTIONS = {
    "mluOpCreate": [POINTER(c_void_p)],
    "mluOpDestroy": [c_void_p],
    "mluOpSetAtomicsMode": [c_void_p, c_int],
    "mluOpCreateTensorDescriptor": [POINTER(c_void_p)],
    "mluOpSetTensorDescriptor_v2": [c_void_p, c_int, c_int, c_int, POINTER(c_int64)],
    "mluOpDestroyTensorDescriptor": [c_void_p],
    "mluOpExtSetBackend": [c_void_p, c_char_p],
    "mluOpExtGetBackend": [c_void_p, POINTER(c_char_p)],
    "mluOpExtGetLastRunBackend": [c_void_p, POINTER(c_char_p)],
    "mluOpExtSetOption": [c_void_p, c_char_p, c_char_p, c_char_p],
    "mluOpExtReleaseMemory": [c_void_p],
    "mluOpExtQuery": [c_void_p, c_char_p, c_char_p, c_char_p, c_size_t, POINTER(c_size_t)],
    "mluOpExtSetNumThreads": [c_void_p, c_int],
    "mluOpExtGetNumThreads": [c_void_p, POINTER(c_int)],
    "mluOpExtSetContract": [c_void_p, c_int],
    "mluOpExtSetCapture": [c_char_p, c_char_p, c_int64, c_int64],
    "mluOpExtSetVerbose": [c_int],
}

# Functions that return text or a number.
_PLAIN_FUNCTIONS = {
    "mluOpGetErrorString": ([c_int], c_char_p),
    "mluOpExtGetVersion": ([], c_char_p),
    "mluOpExtGetLastErrorText": ([], c_char_p),
    "mluOpExtGetBackendCount": ([], c_int),
    "mluOpExtGetBackendName": ([c_int], c_char_p),
    "mluOpExtGetBackendDescription": ([c_int], c_char_p),
}


def _declare() -> None:
    for name, arguments in _STATUS_FUNCTIONS.items():
        function = getattr(lib, name)
        function.argtypes, function.restype = arguments, c_int
    for name, (arguments, result) in _PLAIN_FUNCTIONS.items():
        function = getattr(lib, name)
        function.argtypes, function.restype = arguments, result


_declare()


_trials = threading.local()


@contextlib.contextmanager
def trying() -> Iterator[None]:
    """Calls that try out what is supported: under MLUOP_VERBOSE their failures are not the program's. May be nested."""
    depth = getattr(_trials, "depth", 0)
    _trials.depth = depth + 1
    lib.mluOpExtSetVerbose(0)
    try:
        yield
    finally:
        _trials.depth = depth
        if depth == 0:
            lib.mluOpExtSetVerbose(-1)


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _unchanged(words: str) -> str:
    return words


def check(status: int, reworded: Callable[[str], str] = _unchanged) -> None:
    """Raises the exception of a failed call. Must run in the thread that made the call."""
    if status != 0:
        words = reworded(text(lib.mluOpExtGetLastErrorText()))
        raise error_for(status, text(lib.mluOpGetErrorString(status)), words)
