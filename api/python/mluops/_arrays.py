"""numpy arrays on their way to the C functions."""

from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._context import BOOL, DOUBLE, FLOAT, HALF, INT32, numpy_door
from ._errors import BadParamError
from ._function import CFunction

Array = np.ndarray

_CODES = {np.dtype(np.float16): HALF, np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE,
          np.dtype(np.int32): INT32, np.dtype(np.bool_): BOOL}
_FLOATS = ("float16", "float32", "float64")


def floats(optional: str = "", **arrays: Optional[Array]) -> list:
    """C-contiguous arrays of one floating dtype, that of the first, in this machine's byte order. The one named by
    `optional` may be None."""
    made, first = [], None
    for name, array in arrays.items():
        if array is None and name == optional:
            made.append(None)
            continue
        dense = np.asarray(array, order="C")
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
    array = np.asarray(indices, order="C")
    if array.dtype.name not in ("int32", "int64"):
        raise TypeError(f"{name}: wanted dtype int32 or int64, got {array.dtype}")
    limits = np.iinfo(np.int32)
    return array if array.dtype == np.int32 else np.clip(array, limits.min, limits.max).astype(np.int32)


def output(out: Optional[Array], name: str, shape: Tuple[int, ...], dtype: Any) -> Array:
    """The caller's array, checked, or a new one."""
    if out is None:
        return np.empty(shape, dtype)
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
