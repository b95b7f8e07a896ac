"""Finds libmluops, loads it and declares the C functions this package calls. ctypes releases the GIL in each call."""

import ctypes
import os
from ctypes import POINTER, c_char_p, c_float, c_int, c_int64, c_void_p
from pathlib import Path

from ._errors import error_for

LIBRARY_VARIABLE = "MLUOPS_LIBRARY"


def _find() -> str:
    """Path of the shared object: MLUOPS_LIBRARY, else the one of the wheel, else whatever the loader finds."""
    chosen = os.environ.get(LIBRARY_VARIABLE)
    if chosen:
        return chosen
    bundled = Path(__file__).parent / "lib" / "libmluops.so.1"
    return str(bundled) if bundled.exists() else "libmluops.so.1"


def _load() -> ctypes.CDLL:
    path = _find()
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"cannot load {path}: {error}. Install the mluops wheel, or set {LIBRARY_VARIABLE} "
                          "to the path of libmluops.so.1.") from error


lib = _load()

_tensor = [c_void_p, c_void_p]  # a descriptor and its data
_pool = [c_int, c_int, c_float, c_int, c_float]  # pooled height and width, scale, sampling ratio, gamma

# Functions that return a status, with their arguments.
_STATUS_FUNCTIONS = {
    "mluOpCreate": [POINTER(c_void_p)],
    "mluOpDestroy": [c_void_p],
    "mluOpSetAtomicsMode": [c_void_p, c_int],
    "mluOpCreateTensorDescriptor": [POINTER(c_void_p)],
    "mluOpSetTensorDescriptor_v2": [c_void_p, c_int, c_int, c_int, POINTER(c_int64)],
    "mluOpDestroyTensorDescriptor": [c_void_p],
    "mluOpCreateCarafeDescriptor": [POINTER(c_void_p)],
    "mluOpSetCarafeDescriptor": [c_void_p, c_int, c_int, c_int, c_int],
    "mluOpDestroyCarafeDescriptor": [c_void_p],
    "mluOpExtSetBackend": [c_void_p, c_char_p],
    "mluOpExtGetBackend": [c_void_p, POINTER(c_char_p)],
    "mluOpExtGetLastRunBackend": [c_void_p, POINTER(c_char_p)],
    "mluOpExtSetOption": [c_void_p, c_char_p, c_char_p, c_char_p],
    "mluOpExtSetNumThreads": [c_void_p, c_int],
    "mluOpExtGetNumThreads": [c_void_p, POINTER(c_int)],
    "mluOpExtSetContract": [c_void_p, c_int],
    "mluOpCarafeForward": [c_void_p, c_void_p] + 3 * _tensor,
    "mluOpCarafeBackward": [c_void_p, c_void_p] + 5 * _tensor,
    "mluOpDeformRoiPoolForward": [c_void_p] + 3 * _tensor + _pool + _tensor,
    "mluOpDeformRoiPoolBackward": [c_void_p] + 4 * _tensor + _pool + 2 * _tensor,
    "mluOpPsamaskForward": [c_void_p, c_int] + _tensor + [c_int, c_int] + _tensor,
    "mluOpPsamaskBackward": [c_void_p, c_int] + _tensor + [c_int, c_int] + _tensor,
    "mluOpThreeInterpolateForward": [c_void_p] + 4 * _tensor,
    "mluOpThreeInterpolateBackward": [c_void_p] + 4 * _tensor,
    "mluOpBorderAlignForward": [c_void_p] + 2 * _tensor + [c_int] + 2 * _tensor,
    "mluOpBorderAlignBackward": [c_void_p] + 3 * _tensor + [c_int] + _tensor,
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


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def check(status: int) -> None:
    """Raises the exception of a failed call. Must run in the thread that made the call."""
    if status != 0:
        raise error_for(status, text(lib.mluOpGetErrorString(status)), text(lib.mluOpExtGetLastErrorText()))
