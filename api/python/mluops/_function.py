"""An operator's C function, its arguments said once: from them come the ctypes signature, the conversion of Python
values, and the names an error speaks of.

    FORWARD = CFunction("mluOpPsamaskForward", INT("psa_type"), NHWC("input", "x"), INT("h_mask"), INT("w_mask"),
                        NHWC("output", "y"))
    FORWARD(context, 0, (FLOAT, (1, 4, 4, 9), address, None), 3, 3, (FLOAT, (1, 4, 4, 16), other_address, None))

The handle comes first by itself. A function is looked up when it is first called: an older library lacks only that.
"""

from ctypes import Array, c_bool, c_double, c_float, c_int, c_int64, c_size_t, c_void_p
from functools import cached_property
from itertools import accumulate
from typing import Any, Callable, Dict, NamedTuple, Optional

from . import _context as c
from ._arguments import integer
from ._errors import NotSupportedError
from ._library import check, lib

_set_scalars = getattr(lib, "mluOpExtSetScalars", None)  # an older library lacks it and computes with floats
if _set_scalars is not None:
    _set_scalars.argtypes, _set_scalars.restype = [c_void_p, c_void_p, c_int], c_int


class Part(NamedTuple):
    """One argument of a C function: `types` are what C sees, convert(context, value) gives as many values."""

    name: str  # the caller's
    types: tuple
    convert: Callable
    c_name: str  # the prototype's, as the library's texts have it
    layout: Optional[int] = None  # of a tensor
    floats: Optional[Callable] = None  # of a value: those that C rounds to float
    # What the description tells, by the caller's names:
    dims: str = ""  # the sizes of a tensor, "n h w c" of an image
    like: str = ""  # the tensor whose sizes these are
    dtype: str = ""  # of a tensor; "": that of all others
    optional: bool = False
    least: Optional[int] = None  # of a number
    most: Optional[int] = None
    parts: tuple = ()  # of an operator's own descriptor
    kind: str = ""  # of such a descriptor, and the function that sets it
    setter: str = ""


def _tensor(layout: int) -> Callable[..., Part]:
    def convert(context: "c.Context", tensor: Optional["c.Tensor"]) -> tuple:
        if tensor is None:
            return None, None
        dtype, shape, address, own_layout = tensor
        return context.tensor_desc(layout if own_layout is None else own_layout, dtype, shape), address

    def part(name: str, c_name: str = "", **described: Any) -> Part:
        """A tensor (dtype, shape, address, layout) or None: its descriptor and its address."""
        return Part(name, (c_void_p, c_void_p), convert, c_name or name, layout, **described)

    return part


NHWC, ARRAY = _tensor(c.NHWC), _tensor(c.ARRAY)
PLANES = _tensor(c.NCHW)  # an image that C takes in NCHW alone


def _bare(layout: int) -> Callable[..., Part]:
    def part(name: str, c_name: str = "", **described: Any) -> Part:
        """A tensor of which C gets no descriptor: it is like another one."""
        return Part(name, (c_void_p,), lambda context, tensor: (tensor[2],), c_name or name, layout, **described)

    return part


BARE_NHWC, BARE_ARRAY = _bare(c.NHWC), _bare(c.ARRAY)


def INT(name: str, c_name: str = "", **limits: int) -> Part:
    return Part(name, (c_int,), lambda context, value: (integer(name, value),), c_name or name, **limits)


def INT64(name: str, c_name: str = "", **limits: int) -> Part:
    return Part(name, (c_int64,), lambda context, value: (integer(name, value),), c_name or name, **limits)


def INTS(name: str, c_name: str = "") -> Part:
    """An array of ints, given as a tuple."""
    return Part(name, (c_void_p,), lambda context, value: ((c_int * len(value))(*value),), c_name or name)


def FLOAT(name: str, c_name: str = "", **limits: int) -> Part:
    return Part(name, (c_float,), lambda context, value: (value,), c_name or name, floats=lambda value: (value,), **limits)


def DOUBLE(name: str, c_name: str = "") -> Part:
    return Part(name, (c_double,), lambda context, value: (value,), c_name or name)


def BOOL(name: str, c_name: str = "") -> Part:
    return Part(name, (c_bool,), lambda context, value: (bool(value),), c_name or name)


def SIZE(name: str, c_name: str = "") -> Part:
    return Part(name, (c_size_t,), lambda context, value: (value,), c_name or name)


def ADDRESS(name: str, c_name: str = "") -> Part:
    """A bare pointer, given as a number or a ctypes reference."""
    return Part(name, (c_void_p,), lambda context, value: (value,), c_name or name)


def DESCRIPTOR(name: str, kind: str, *parts: Part, version: str = "", ext: bool = False) -> Part:
    """An operator's own descriptor, set from a tuple of values; made once for each tuple. kind: "Carafe" means
    mluOpCreateCarafeDescriptor, mluOpSetCarafeDescriptor<version> (ext: mluOpExtSet...), mluOpDestroyCarafeDescriptor."""
    setter = f"mluOp{'Ext' * ext}Set{kind}Descriptor{version}"
    described = c.Described(kind, setter, [t for part in parts for t in part.types],
                            lambda values: [v for part, value in zip(parts, values) for v in part.convert(None, value)])

    def convert(context: "c.Context", values: tuple) -> tuple:
        return (context.descriptor(described, values),)

    def floats(values: tuple) -> list:
        return [number for part, value in zip(parts, values) if part.floats for number in part.floats(value)]

    return Part(name, (c_void_p,), convert, name, floats=floats if any(part.floats for part in parts) else None, parts=parts,
                kind=kind, setter=setter)


class CFunction:
    """lib.<name>(handle, ...) taking one Python value for each part; raises the exception of a failed call. The last
    parts, as many as `results` says, are written. Of the sizes that parts name, `derived` computes some of others, and
    `say` tells what they are: of all tensors, or of one ("boxes.4"). `smallest` maps each size that is not 1 in the
    operator's smallest call to its value."""

    def __init__(self, name: str, *parts: Part, derived: Dict[str, Callable] = {}, say: Dict[str, str] = {},
                 smallest: Dict[str, int] = {}, results: int = 1) -> None:
        self.name, self.parts, self.derived, self.say = name, parts, derived, say
        self.smallest, self.results = smallest, results
        self.layouts = tuple(part.layout for part in parts)
        self._converts = tuple(part.convert for part in parts)
        self._floats = [(i, part.floats) for i, part in enumerate(parts) if part.floats]
        self.last = tuple(accumulate(len(part.types) for part in parts))  # one past each part's C arguments

    @cached_property
    def function(self) -> Any:
        try:
            function = getattr(lib, self.name)
        except AttributeError:
            raise NotSupportedError(*NotSupportedError.default,
                                    f"{self.name}: the loaded library is older than this package") from None
        function.argtypes = [c_void_p, *(t for part in self.parts for t in part.types)]
        function.restype = c_int
        return function

    @property
    def available(self) -> bool:
        return hasattr(lib, self.name)

    def __call__(self, context: "c.Context", *values: Any) -> None:
        self.call(context, self.arguments(context, values), self.scalars(values))

    def arguments(self, context: "c.Context", values: tuple) -> list:
        """The arguments of the C function after the handle."""
        made: list = []
        for convert, value in zip(self._converts, values):
            made += convert(context, value)
        return made

    def scalars(self, values: tuple) -> Optional[Array]:
        """The floats of a call on tensors of float64, which is to compute with them and not with what C rounds them to.
        None: of another call, or where they are the same."""
        if not any(layout is not None and value is not None and value[0] == c.DOUBLE
                   for layout, value in zip(self.layouts, values)):
            return None
        exact = [float(number) for i, floats in self._floats for number in floats(values[i])]
        if all(c_float(number).value == number for number in exact):
            return None
        return (c_double * len(exact))(*exact)

    def call(self, context: "c.Context", arguments: list, scalars: Optional[Array]) -> None:
        """The C call on what arguments() and scalars() made."""
        if scalars is None or _set_scalars is None:
            status = self.function(context.handle, *arguments)
        else:
            status = self._call_exactly(context, arguments, scalars)
        if status != 0:
            check(status, self.caller_s_words)

    def _call_exactly(self, context: "c.Context", arguments: list, scalars: Array) -> int:
        """An interrupt, or an argument that ctypes refuses, leaves nothing to the next call."""
        try:
            check(_set_scalars(context.handle, scalars, len(scalars)))
            return self.function(context.handle, *arguments)
        except BaseException:
            _set_scalars(context.handle, None, 0)
            raise

    def caller_s_words(self, text: str) -> str:
        """The library's text with the argument it is about under the caller's name."""
        for part in self.parts:
            about = f"{self.name}: {part.c_name}: "
            if text.startswith(about):
                return f"{self.name}: {part.name}: {text[len(about):]}"
        return text
