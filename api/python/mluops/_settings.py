"""What a user can ask and choose: backends, threads, contract, how gradients are summed."""

from typing import Dict

from ._context import (ATOMICS_ALLOWED, ATOMICS_NOT_ALLOWED, EXTENDED, STRICT, Context, numpy_door, settings)
from ._library import lib, text


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


def last_run_backend() -> str:
    """The backend that ran this thread's last numpy call; "" before any."""
    return numpy_door.context().last_run_backend()


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


def set_contract(name: str) -> None:
    """"strict" (default): the mluOp contract, half and float. "extended": also float64, larger kernels and tensors.

    numpy calls only; torch calls always run under the extended contract.
    """
    _change(contract={"strict": STRICT, "extended": EXTENDED}[name])


def set_deterministic(deterministic: bool) -> None:
    """True (default): gradients have the same bits on every run and thread count. False: may be faster.

    numpy calls only; torch calls follow torch.use_deterministic_algorithms().
    """
    _change(atomics=ATOMICS_NOT_ALLOWED if deterministic else ATOMICS_ALLOWED)
