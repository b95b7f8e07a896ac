"""numpy arrays, and others on the CPU that speak DLPack, on their way to the C functions."""

from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._context import BOOL, DOUBLE, FLOAT, HALF, INT32, numpy_door
from ._errors import BadParamError
from ._function import CFunction

Array = np.ndarray

_CODES = {np.dtype(np.float16): HALF, np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE,
          np.dtype(np.int32): INT32, np.dtype(np.bool_): BOOL}
_FLOATS = ("float16", "float32", "float64")
_IN_CPU_MEMORY = (1, 3, 11, 13)  # DLDeviceType: CPU, host memory of CUDA and ROCm, managed memory


def array(name: str, value: Any) -> Array:
    """A numpy array over the memory of an array of another package (DLPack); of lists and the like, a new one."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return np.asarray(value)
    try:
        on_cpu = int(value.__dlpack_device__()[0]) in _IN_CPU_MEMORY
        if on_cpu:
            return np.from_dlpack(value)
    except Exception as error:  # packages differ in what they raise
        raise TypeError(f"{name}: wanted an array that numpy can read through DLPack, got {_described(value)}: {error}") from error
    raise TypeError(f"{name}: wanted an array on the CPU, got {_described(value)} on {getattr(value, 'device', 'another device')}")


def _described(value: Any) -> str:
    return f"{type(value).__module__.split('.')[0]}.{type(value).__name__} of {getattr(value, 'dtype', 'an unknown dtype')}"


def floats(optional: str = "", **arrays: Optional[Array]) -> list:
    """C-contiguous arrays of one floating dtype, that of the first, in this machine's byte order. The one named by
    `optional` may be None."""
    made, first = [], None
    for name, given in arrays.items():
        if given is None and name == optional:
            made.append(None)
            continue
        dense = np.asarray(array(name, given), order="C")
        if dense.dtype.name not in _FLOATS:
            raise TypeError(f"{name}: wanted dtype {', '.join(_FLOATS)}, got {dense.dtype}")
        if not dense.dtype.isnative:
            dense = dense.astype(dense.dtype.newbyteorder("="))
        if first is None:
            first = name, dense.dtype
        elif dense.dtype != first[1]:
            raise BadParamError.of(f"{name}: wanted dtype {first[1]} as {first[0]}, got {dense.dtype}")
        made.append(dense)
    return made


def index32(name: str, indices: Array) -> Array:
    """Indices as int32; a 64-bit value that does not fit is out of range, hence -1 or the largest number."""
    dense = np.asarray(array(name, indices), order="C")
    if dense.dtype.name not in ("int32", "int64"):
        raise TypeError(f"{name}: wanted dtype int32 or int64, got {dense.dtype}")
    limits = np.iinfo(np.int32)
    return dense if dense.dtype == np.int32 else np.clip(dense, limits.min, limits.max).astype(np.int32)


def booleans(name: str, flags: Array) -> Array:
    return np.ascontiguousarray(array(name, flags), bool)


def _in_place(name: str, out: Any) -> Array:
    """A view of an array of another package, writable if it is: numpy before 2.1 only reads through DLPack."""
    view = array(name, out)
    if not view.flags.writeable and hasattr(out, "__array__"):
        own = np.asarray(out)
        return own if np.shares_memory(own, view) else view
    return view


def output(out: Optional[Array], name: str, shape: Tuple[int, ...], dtype: Any) -> Array:
    """The caller's array, checked, or a new one."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) and hasattr(out, "__dlpack__"):
        out = _in_place(name, out)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        got = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ValueError(f"{name}: wanted an array {np.dtype(dtype)} {shape}, got {got}")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError(f"{name}: wanted a writable C-contiguous array")
    return out


def outputs(out: Optional[Sequence[Array]], names: Sequence[str], shapes: Sequence[tuple],
            dtypes: Sequence[Any]) -> Tuple[Array, ...]:
    given = [None] * len(names) if out is None else list(out)
    if len(given) != len(names):
        raise ValueError(f"out: wanted {len(names)} arrays ({', '.join(names)}), got {len(given)}")
    return tuple(output(*each) for each in zip(given, names, shapes, dtypes))


def run(function: CFunction, results: Tuple[Array, ...], *values: Any) -> None:
    """The C call with arrays and numbers in its order; `results` are those it fills. The library knows no sums over
    nothing: where an array is empty, results are zeros."""
    if any(isinstance(value, np.ndarray) and value.size == 0 for value in values):
        for result in results:
            result.fill(0)
        return
    function(numpy_door.context(), *(
        (_CODES[value.dtype], value.shape, value.ctypes.data, None) if isinstance(value, np.ndarray) else value
        for value in values))
