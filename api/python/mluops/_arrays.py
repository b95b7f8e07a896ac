"""numpy arrays, and others on the CPU that speak DLPack, on their way to the C functions."""

from functools import lru_cache
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from ._context import BOOL, DOUBLE, FLOAT, HALF, INT32, numpy_door
from ._errors import BadParamError
from ._forms import Form
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


def outputs(out: Optional[Sequence[Array]], names: Sequence[str], shapes: Sequence[Optional[tuple]],
            dtypes: Sequence[Any]) -> tuple:
    """output() of each; None, and none among the caller's, where the shape is None."""
    wanted = [name for name, shape in zip(names, shapes) if shape is not None]
    given = [None] * len(wanted) if out is None else list(out)
    if len(given) != len(wanted):
        raise ValueError(f"out: wanted {len(wanted)} arrays ({', '.join(wanted)}), got {len(given)}")
    arrays = iter(given)
    return tuple(None if shape is None else output(next(arrays), name, shape, dtype)
                 for name, shape, dtype in zip(names, shapes, dtypes))


@lru_cache(maxsize=None)
def _form(function: CFunction) -> Form:
    parts = [part for each in function.parts[:-function.results] for part in each.parts or (each,)]
    return Form(f"{function.name}({', '.join(part.name for part in parts if 'workspace' not in part.name)})", function)


def _check_sizes(function: CFunction, values: Sequence[Any]) -> None:
    """What the description tells of arrays and numbers."""
    known: Dict[str, Any] = {}
    for part, value in zip(function.parts, values):
        known.update(zip([each.name for each in part.parts], value) if part.parts else [(part.name, value)])
    form = _form(function)
    form.sizes([known[name] for name in form.arguments])


def run(function: CFunction, results: tuple, *values: Any) -> None:
    """The C call with arrays and numbers in its order; `results` are those it fills. The library knows no sums over
    nothing: where an array is empty, results are zeros, and sizes are checked here."""
    context = numpy_door.context()
    given = [(_CODES[value.dtype], value.shape, value.ctypes.data, None) if isinstance(value, np.ndarray) else value
             for value in values]
    if all(value.size for value in values if isinstance(value, np.ndarray)):
        return function(context, *given)
    _check_sizes(function, values)
    function.arguments(context, given)  # an operator's own descriptor checks its numbers
    for result in results:
        if result is not None:
            result.fill(0)
