"""Handles and descriptors of this package: one set per thread, made when first needed, remade after a fork.

A handle serialises its operator calls, so threads that shared one would wait for each other. Descriptors are cached
by (layout, dtype, shape): a loop over batches of one shape creates them once.
"""

import ctypes
import os
import threading
import weakref
from typing import Any, Callable, Dict, Optional, Tuple

from ._errors import BadParamError
from ._library import check, lib, text, trying

HALF, FLOAT, INT32, BOOL, INT64, DOUBLE, BFLOAT16 = 1, 2, 6, 8, 9, 14, 17  # mluOpDataType_t
NCHW, NHWC, ARRAY = 0, 1, 4  # mluOpTensorLayout_t
STRICT, EXTENDED = 0, 1  # mluOpExtContract_t
ATOMICS_NOT_ALLOWED, ATOMICS_ALLOWED = 1, 2  # mluOpAtomicsMode_t

# A tensor as the C API sees it: dtype, shape, address of the first element, layout (None: the one its argument names).
Tensor = Tuple[int, Tuple[int, ...], int, Optional[int]]

_MOST_KEPT = 1024


class Recent:
    """A cache of what was asked for lately: of the last _MOST_KEPT different keys at least, of twice as many at most.

    Values own what they stand for, so what is forgotten here lives on until nobody else holds it. There are two
    generations, for finding a young key to cost no more than a dict.
    """

    def __init__(self) -> None:
        self._young: Dict[tuple, Any] = {}
        self._old: Dict[tuple, Any] = {}

    def get(self, key: tuple) -> Any:
        """None if it does not exist."""
        value = self._young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: tuple, value: Any) -> None:
        if len(self._young) >= _MOST_KEPT:
            self._young, self._old = {}, self._young
        self._young[key] = value

    def values(self) -> list:
        return [*self._young.values(), *self._old.values()]

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def clear(self) -> None:
        self._young, self._old = {}, {}


class Settings:
    """The user's settings for all threads; `version` counts the changes so that contexts notice them."""

    def __init__(self) -> None:
        self.version = 0
        self.backend = ""
        self.threads = 0
        self.contract = STRICT
        self.atomics = ATOMICS_NOT_ALLOWED
        self.options: Dict[Tuple[str, str], str] = {}

    def change(self, **values: object) -> None:
        for name, value in values.items():
            setattr(self, name, value)
        self.version += 1


settings = Settings()


class Descriptor(ctypes.c_void_p):
    """A descriptor of the library, destroyed when nobody holds it any more: no cache, no plan, no call."""

    _destroy: Optional[Callable] = None

    @classmethod
    def create(cls, kind: str) -> "Descriptor":
        made = cls()
        check(getattr(lib, f"mluOpCreate{kind}Descriptor")(ctypes.byref(made)))
        made._destroy = getattr(lib, f"mluOpDestroy{kind}Descriptor")
        return made

    def __del__(self) -> None:
        if self._destroy is not None:
            self._destroy(self)


class Described:
    """Makes an operator's own descriptors, e.g. those of CARAFE: kind "Carafe"."""

    def __init__(self, kind: str, setter: str, types: list, convert: Callable[[tuple], list]) -> None:
        self._kind, self._setter, self._types, self._convert = kind, setter, types, convert

    def make(self, values: tuple) -> Descriptor:
        arguments = self._convert(values)
        made = Descriptor.create(self._kind)
        function = getattr(lib, self._setter)
        function.argtypes = [ctypes.c_void_p, *self._types]
        check(function(made, *arguments))
        return made


_contexts: "weakref.WeakSet[Context]" = weakref.WeakSet()  # of all threads


def release_memory() -> None:
    """Implements mluops.release_memory(). Waits for handles that are in a call."""
    for context in list(_contexts):
        context.release_memory()


class Context:
    """A handle with its descriptors, used by one thread."""

    def __init__(self, contract: Optional[int] = None) -> None:
        self.handle: Optional[ctypes.c_void_p] = ctypes.c_void_p()
        check(lib.mluOpCreate(ctypes.byref(self.handle)))
        self.tensors = Recent()
        self.descriptors = Recent()  # operators' own: (what, values)
        self.threads: Optional[int] = None
        self.atomics: Optional[int] = None
        self.takes_nchw = False  # all backends of the chain take image tensors in NCHW
        self.plans = Recent()  # a door's own: calls made ready, which hold their descriptors
        self.options: Dict[Tuple[str, str], str] = {}  # those of the settings that the handle was given
        self._fixed_contract = contract
        self._backend = ""
        self.version = -1
        self.process = os.getpid()
        try:
            self.apply_settings()
        except Exception:
            self.close()
            raise
        _contexts.add(self)

    def apply_settings(self) -> None:
        if settings.backend != self._backend:
            check(lib.mluOpExtSetBackend(self.handle, settings.backend.encode()))
            self._backend = settings.backend
        contract = settings.contract if self._fixed_contract is None else self._fixed_contract
        check(lib.mluOpExtSetContract(self.handle, contract))
        self.set_atomics(settings.atomics)
        self.set_threads(settings.threads)
        chain = self.backend().split(",")
        for (backend, key), value in settings.options.items():
            if backend in chain:
                self.set_option(backend, key, value)
        self.options = dict(settings.options)
        self.takes_nchw = all(map(self._names_nchw, chain))
        self.plans.clear()
        self.version = settings.version

    def _names_nchw(self, backend: str) -> bool:
        try:
            with trying():
                return "NCHW" in self.query(backend, "layouts")
        except BadParamError:  # it knows no such property: NHWC only
            return False

    def set_threads(self, threads: int) -> None:
        if threads != self.threads:
            check(lib.mluOpExtSetNumThreads(self.handle, threads))
            self.threads = threads

    def set_atomics(self, mode: int) -> None:
        if mode != self.atomics:
            check(lib.mluOpSetAtomicsMode(self.handle, mode))
            self.atomics = mode

    def set_option(self, backend: str, key: str, value: str) -> None:
        check(lib.mluOpExtSetOption(self.handle, backend.encode(), key.encode(), value.encode()))

    def tensor_desc(self, layout: int, dtype: int, shape: Tuple[int, ...]) -> Descriptor:
        key = (layout, dtype, shape)
        desc = self.tensors.get(key)
        if desc is None:
            desc = Descriptor.create("Tensor")
            dims = (ctypes.c_int64 * len(shape))(*shape)
            check(lib.mluOpSetTensorDescriptor_v2(desc, layout, dtype, len(shape), dims))
            self.tensors.put(key, desc)
        return desc

    def descriptor(self, described: "Described", values: tuple) -> Descriptor:
        key = (described, values)
        desc = self.descriptors.get(key)
        if desc is None:
            desc = described.make(values)
            self.descriptors.put(key, desc)
        return desc

    def query(self, backend: str, key: str) -> str:
        """A property of a backend of the chain, as text."""
        length = ctypes.c_size_t()
        arguments = (self.handle, backend.encode(), key.encode())
        check(lib.mluOpExtQuery(*arguments, None, 0, ctypes.byref(length)))
        buffer = ctypes.create_string_buffer(length.value + 1)
        check(lib.mluOpExtQuery(*arguments, buffer, len(buffer), None))
        return text(buffer.value)

    def backend(self) -> str:
        name = ctypes.c_char_p()
        check(lib.mluOpExtGetBackend(self.handle, ctypes.byref(name)))
        return text(name.value or b"")

    def last_run_backend(self) -> str:
        name = ctypes.c_char_p()
        check(lib.mluOpExtGetLastRunBackend(self.handle, ctypes.byref(name)))
        return text(name.value or b"")

    def threads_in_force(self) -> int:
        number = ctypes.c_int()
        check(lib.mluOpExtGetNumThreads(self.handle, ctypes.byref(number)))
        return number.value

    def release_memory(self) -> None:
        if self.handle and self.process == os.getpid():
            check(lib.mluOpExtReleaseMemory(self.handle))

    def close(self) -> None:
        # A handle made before a fork is left alone: a thread of the parent may have been inside it.
        if self.handle and self.process == os.getpid():
            lib.mluOpDestroy(self.handle)
        self.handle = None

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter is shutting down
            pass


class Door:
    """The contexts of one front end. numpy follows the chosen contract; torch always asks for the extended one."""

    def __init__(self, contract: Optional[int] = None) -> None:
        self._contract = contract
        self._local = threading.local()

    def context(self) -> Context:
        """This thread's context with the current settings."""
        found = getattr(self._local, "context", None)
        if found is None:
            found = self._local.context = Context(self._contract)
        elif found.version != settings.version:
            if found.options.keys() - settings.options.keys():  # a handle does not unlearn an option
                found = self._local.context = Context(self._contract)
            else:
                found.apply_settings()
        return found

    def forget(self) -> None:
        self._local = threading.local()


numpy_door = Door()
torch_door = Door(EXTENDED)


def _after_fork() -> None:
    numpy_door.forget()
    torch_door.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
