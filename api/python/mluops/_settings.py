"""Settings and queries of users: backends, threads, contract, how gradients are summed."""

import contextlib
from typing import Dict, Iterator, Optional, Tuple

from ._context import release_memory as _release_memory
from ._context import (ATOMICS_ALLOWED, ATOMICS_NOT_ALLOWED, EXTENDED, STRICT, Context, Door, numpy_door, settings,
                       torch_door)
from ._errors import BadParamError, bad_param
from ._library import lib, text, trying

_CONTRACTS = {"strict": STRICT, "extended": EXTENDED}


def version() -> str:
    """Version of the loaded library."""
    return text(lib.mluOpExtGetVersion())


def backends() -> Dict[str, str]:
    """The known backends with a line about each, the default first."""
    return {text(lib.mluOpExtGetBackendName(i)): text(lib.mluOpExtGetBackendDescription(i))
            for i in range(lib.mluOpExtGetBackendCount())}


def backend() -> str:
    """The backend, or chain of backends, that calls go to."""
    return numpy_door.context().backend()


def _door(name: str) -> Door:
    doors = {"numpy": numpy_door, "torch": torch_door}
    if name not in doors:
        raise bad_param("door", '"numpy" or "torch"', name)
    return doors[name]


def last_run_backend(door: str = "numpy") -> str:
    """The backend that ran this thread's last call, of numpy or of torch; "" before any."""
    return _door(door).context().last_run_backend()


def query(key: str, backend_name: str = "", door: str = "numpy") -> str:
    """A property of a backend as this thread's handle for numpy or torch calls has it, e.g. query("isa"),
    query("threading"), query("report", "mlu_emu"); docs/environment.md lists the keys.

    Without a backend name the first of the chain that knows the key answers. Raises BadParamError when none does.
    """
    context = _door(door).context()
    names = [backend_name] if backend_name else context.backend().split(",")
    for name in names[:-1]:
        with contextlib.suppress(BadParamError), trying():
            return context.query(name, key)
    return context.query(names[-1], key)


def options() -> Dict[Tuple[str, str], str]:
    """The options that set_option has set: {(backend, key): value}."""
    return dict(settings.options)


def _change(**values: object) -> None:
    """Changes settings for all threads, once the library has agreed to them."""
    before = dict(settings.__dict__)
    settings.change(**values)
    try:
        Context().close()
    except Exception:
        settings.__dict__.update(before, version=settings.version + 1)
        raise


def set_backend(chain: str) -> None:
    """Chooses a backend ("cpu") or a comma-separated chain ("mine,cpu") for every thread's later calls.

    Raises NotInitializedError, listing the known names, when a name is unknown or cannot be used here.
    "" returns to the variable MLUOP_BACKEND, else "cpu".
    """
    _change(backend=chain)


def num_threads() -> int:
    """Threads of a numpy call (torch calls use torch.get_num_threads())."""
    return numpy_door.context().threads_in_force()


def set_num_threads(threads: int) -> None:
    """Threads of later numpy calls; 0 returns to MLUOP_NUM_THREADS, OMP_NUM_THREADS, or the CPUs at hand."""
    _change(threads=threads)


def set_option(backend_name: str, key: str, value: str) -> None:
    """Sets an option of a backend for every thread's later calls; docs/environment.md lists them.

    Raises BadParamError when the backend is not in use or does not know the key or the value.
    """
    numpy_door.context().set_option(backend_name, key, value)
    options = dict(settings.options)
    options[(backend_name, key)] = value
    _change(options=options)


def release_memory() -> None:
    """Gives back the working memory that the library holds between calls, of all threads; the next calls take what they
    need again. Without it a block is given back once 64 calls in a row of its thread used less than half of it.
    """
    _release_memory()


def set_contract(name: str) -> None:
    """"strict" (default): the mluOp contract, half and float. "extended": also float64, larger kernels and tensors.

    numpy calls only; torch calls always run under the extended contract.
    """
    if name not in _CONTRACTS:
        raise bad_param("contract", '"strict" or "extended"', name)
    _change(contract=_CONTRACTS[name])


def set_deterministic(deterministic: bool) -> None:
    """True (default): gradients are bitwise equal on every run and thread count. False: may be faster.

    numpy calls only; torch calls follow torch.use_deterministic_algorithms().
    """
    _change(atomics=ATOMICS_NOT_ALLOWED if deterministic else ATOMICS_ALLOWED)


@contextlib.contextmanager
def using(*, backend: Optional[str] = None, num_threads: Optional[int] = None, contract: Optional[str] = None,
          deterministic: Optional[bool] = None,
          options: Optional[Dict[Tuple[str, str], str]] = None) -> Iterator[None]:
    """The setters for the length of a with statement: `with mluops.using(backend="mlu_emu", num_threads=1): ...`.

    Like the setters it holds for all threads; afterwards everything is as before, settings made inside included.

    Args:
        backend, num_threads, contract, deterministic: as for set_backend and so on; None leaves a setting alone.
        options: {(backend, key): value}, as for set_option.
    """
    before = dict(settings.__dict__)
    try:
        if backend is not None:
            set_backend(backend)
        if num_threads is not None:
            set_num_threads(num_threads)
        if contract is not None:
            set_contract(contract)
        if deterministic is not None:
            set_deterministic(deterministic)
        for (name, key), value in (options or {}).items():
            set_option(name, key, value)
        yield
    finally:
        _change(**{name: value for name, value in before.items() if name != "version"})
