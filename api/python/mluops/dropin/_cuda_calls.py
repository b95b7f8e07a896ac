"""Keeps on the CPU what programs send to CUDA, if the user asked for that.

Only Python's ways to name a device are replaced: methods of tensors, functions that make them, torch.load and the tensor
types of torch.cuda. Nothing says that there is a CUDA device: torch.cuda.is_available() is as it was."""

import contextlib
import functools
import re
import time
import warnings
from typing import Any, Callable, Tuple

import torch

from .._replacing import Replacements

_done = Replacements()

_TYPES = ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")
_METHODS = ("new_empty", "new_full", "new_ones", "new_tensor", "new_zeros", "type")
_MAKERS = ("arange", "as_tensor", "empty", "empty_like", "empty_strided", "eye", "full", "full_like", "linspace",
           "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint", "randint_like", "randn",
           "randn_like", "randperm", "tensor", "zeros", "zeros_like", "tril_indices", "triu_indices",
           "sparse_coo_tensor", "asarray", "scalar_tensor", "bartlett_window", "blackman_window", "hamming_window",
           "hann_window", "kaiser_window", "from_file", "range", "sparse_csr_tensor", "nested_tensor",
           "set_default_tensor_type", "set_default_device")
_FREQUENCIES = ("fftfreq", "rfftfreq")  # of torch.fft
# New enough for programs that refuse old devices, too old for those that would choose bfloat16 or flash attention.
_CAPABILITY = (7, 5)
# Calls about the device itself, which have nothing to do.
_IDLE = ("empty_cache", "init", "ipc_collect", "manual_seed", "manual_seed_all", "reset_peak_memory_stats",
         "set_device", "synchronize")


def _moved(value: Any, there: str = "cpu") -> Any:
    """A device or a type of tensors, CUDA's replaced by those of `there`; anything else as it is."""
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device(there)
    if isinstance(value, str):
        if value == "cuda" or value.startswith("cuda:"):
            return there
        return value.replace("torch.cuda.", "torch." if there == "cpu" else f"torch.{there}.")
    return value


def _as_copied(value: torch.Tensor) -> torch.Tensor:
    """A tensor in the memory order that a copy to another device has: programs count on columns becoming contiguous."""
    if value.layout != torch.strided or value.is_contiguous():
        return value
    order = torch.empty_like(value, device="meta").stride()
    return value if order == value.stride() else value.clone()


def _is_cuda(device: Any) -> bool:
    return type(device) is int or isinstance(device, (str, torch.device)) and str(device).startswith("cuda")


def _to(function: Callable, there: str = "cpu") -> Callable:
    """Tensor.to and Module.to, whose first argument may be the number of a CUDA device."""
    kept = _kept(function, there)

    @functools.wraps(function)
    def call(value: Any, *args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is int:
            args = ("cuda",) + args[1:]
        made = kept(value, *args, **kwargs)
        asked = kwargs.get("device", args[0] if args else None)
        return _as_copied(made) if made is value and isinstance(value, torch.Tensor) and _is_cuda(asked) else made

    return call


def _kept(function: Callable, there: str = "cpu") -> Callable:
    """A function of torch, its CUDA devices replaced."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "device" in kwargs and isinstance(kwargs["device"], int):
            kwargs["device"] = there  # an int is the number of a CUDA device
        return function(*(_moved(value, there) for value in args), **{key: _moved(value, there) for key, value in kwargs.items()})

    _known_to_scripts(call, function)
    return call


def _known_to_scripts(call: Callable, function: Callable) -> None:
    """torch.jit.script knows torch's functions by their identity."""
    builtins = getattr(torch.jit, "_builtins", None)
    if builtins is not None and hasattr(builtins, "_register_builtin"):
        name = builtins._find_builtin(function)
        if name is not None:
            builtins._register_builtin(call, name)


# A function of its own for each name: torch.compile has rules by the identity of torch's functions.


def _itself() -> Callable:
    def call(value: Any, *args: Any, **kwargs: Any) -> Any:
        return value

    return call


def _copied() -> Callable:
    def call(value: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        return _as_copied(value)

    return call


def _idle() -> Callable:
    def call(*args: Any, **kwargs: Any) -> None:
        return None

    return call


def _zero() -> Callable:
    def call() -> int:
        return 0

    return call


def _zero_of_any() -> Callable:
    def call(*args: Any, **kwargs: Any) -> int:
        return 0

    return call


def _context() -> type:
    """torch.cuda.device(0) and torch.cuda.stream(...)."""

    class Context(contextlib.nullcontext):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()

    return Context


class _Stream(contextlib.nullcontext):
    """A stream on which every call has ended when it returns."""

    cuda_stream = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(self)

    def query(self) -> bool:
        return True

    def record_event(self, event: Any = None) -> "_Event":
        event = event or _Event()
        event.record(self)
        return event

    def synchronize(self, *args: Any) -> None:
        return None

    wait_event = wait_stream = synchronize


class _Event:
    """An event whose time is the host's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._at = 0.0

    def record(self, stream: Any = None) -> None:
        self._at = time.perf_counter()

    def elapsed_time(self, end: "_Event") -> float:
        """Milliseconds."""
        return (end._at - self._at) * 1e3

    def query(self) -> bool:
        return True

    def synchronize(self, *args: Any) -> None:
        return None

    wait = synchronize


def _stream() -> Callable:
    def call(device: Any = None) -> _Stream:
        return _Stream()

    return call


class _Name(str):
    """The name of a device, and what torch.cuda.get_device_properties tells."""

    name = property(str)
    major, minor = _CAPABILITY
    multi_processor_count = total_memory = warp_size = 0


def _properties() -> Callable:
    def call(device: Any = None) -> _Name:
        return _Name("CPU (mluops.dropin)")

    return call


def _capability() -> Callable:
    def call(device: Any = None) -> Tuple[int, int]:
        return _CAPABILITY

    return call


def _states(function: Callable, several: bool) -> Callable:
    """torch's functions for the state of random numbers, for those of torch.cuda, which are told a device."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if function is torch.set_rng_state:
            state = args[0] if args else next(iter(kwargs.values()))
            return [function(each) for each in state][-1:] if several else function(state)
        return [function()] if several else function()

    return call


def _generator(original: type) -> type:
    """torch.Generator, whose device may be CUDA's."""

    class Kind(type):
        def __call__(cls, device: Any = "cpu") -> Any:
            return original(device="cpu" if isinstance(device, int) else _moved(device))

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, original)

    return Kind("Generator", (), {"__doc__": original.__doc__, "__module__": original.__module__})


def _process_group(function: Callable) -> Callable:
    """torch.distributed's, with gloo in the place of nccl."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        asked = [value for value in (*args, *kwargs.values()) if isinstance(value, str) and "nccl" in value.lower()]
        if asked:
            warnings.warn(f"mluops.dropin: process group of {asked[0]}, gloo stands for it", stacklevel=2)
        args = tuple("gloo" if value in asked else value for value in args)
        return function(*args, **{key: "gloo" if value in asked else value for key, value in kwargs.items()})

    return call


def _without_devices(make: Callable) -> Callable:
    """DistributedDataParallel's constructor, whose modules have no devices of their own on the CPU."""

    @functools.wraps(make)
    def call(self: Any, module: Any, device_ids: Any = None, output_device: Any = None, *args: Any, **kwargs: Any) -> None:
        make(self, module, None, None, *args, **kwargs)

    return call


def _load(load: Callable, there: str = "cpu") -> Callable:
    """torch.load, tensors saved on CUDA devices brought there."""

    @functools.wraps(load)
    def call(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        where = there if map_location is None or isinstance(map_location, int) else _moved(map_location, there)
        if isinstance(where, dict):
            where = {key: _moved(value, there) for key, value in where.items()}
        return load(f, where, *args, **kwargs)

    return call


_hint = Replacements()


def _told(start: Callable) -> Callable:
    """Wraps a function of torch that may need CUDA."""

    @functools.wraps(start)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return start(*args, **kwargs)
        except (AssertionError, RuntimeError) as error:
            if "mluops.dropin" in str(error) or not re.search("cuda|accelerator", str(error), re.IGNORECASE):
                raise
            raise type(error)(f"{error} (mluops.dropin: install(cuda_calls=True), or --cuda-calls, keeps on the CPU what "
                              "is sent to CUDA)") from None

    return call


def tell() -> None:
    """Errors of CUDA calls say what would keep them on the CPU."""
    if not _hint and hasattr(torch.cuda, "_lazy_init"):
        _hint.set(torch.cuda, "_lazy_init", _told(torch.cuda._lazy_init))
        for owner in (torch.Tensor, torch.nn.Module):
            for name in ("cuda", "to"):
                _hint.set(owner, name, _told(getattr(owner, name)))


def _about_devices() -> None:
    """Replaces queries of the device, its random numbers and its profiler."""
    for name in ("get_device_name", "get_device_properties"):
        _done.set(torch.cuda, name, _properties())
    _done.set(torch.cuda, "get_device_capability", _capability())
    for name in ("get_rng_state", "set_rng_state"):
        _done.set(torch.cuda, name, _states(getattr(torch, name), False))
        _done.set(torch.cuda, f"{name}_all", _states(getattr(torch, name), True))
    _done.set(torch, "Generator", _generator(torch.Generator))
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        if hasattr(torch.cuda.nvtx, name):
            _done.set(torch.cuda.nvtx, name, _zero_of_any())
    if hasattr(torch.cuda.nvtx, "range"):
        _done.set(torch.cuda.nvtx, "range", _context())


def _about_processes() -> None:
    import torch.distributed as dist
    if not dist.is_available():
        return
    for name in ("init_process_group", "new_group"):
        _done.set(dist, name, _process_group(getattr(dist, name)))
    parallel = torch.nn.parallel.DistributedDataParallel
    _done.set(parallel, "__init__", _without_devices(parallel.__init__))


def take_devices(done: Replacements, there: str) -> None:
    """Replaces the functions of torch that take a device: for CUDA's, they take that of `there`."""
    for name in _METHODS:
        done.set(torch.Tensor, name, _kept(getattr(torch.Tensor, name), there))
    for owner in (torch.Tensor, torch.nn.Module):
        done.set(owner, "to", _to(owner.to, there))
    for name in _FREQUENCIES:
        done.set(torch.fft, name, _kept(getattr(torch.fft, name), there))
    for name in _MAKERS:
        if hasattr(torch, name):
            done.set(torch, name, _kept(getattr(torch, name), there))
    done.set(torch, "load", _load(torch.load, there))


def install() -> None:
    """Warns once; a second call changes nothing."""
    if _done:
        return
    _about_devices()
    _about_processes()
    take_devices(_done, "cpu")
    _done.set(torch.Tensor, "cuda", _copied())
    _done.set(torch.Tensor, "pin_memory", _itself())
    for storage in (torch.UntypedStorage, torch.storage.TypedStorage):
        _done.set(storage, "cuda", _itself())
    _done.set(torch.nn.Module, "cuda", _itself())
    for name in _TYPES:
        if hasattr(torch, f"{name}Tensor"):
            _done.set(torch.cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))
    for name in _IDLE:
        _done.set(torch.cuda, name, _idle())
    for name in ("device", "stream"):
        _done.set(torch.cuda, name, _context())
    for name in ("current_stream", "default_stream"):
        _done.set(torch.cuda, name, _stream())
    _done.set(torch.cuda, "Stream", _Stream)
    _done.set(torch.cuda, "Event", _Event)
    _done.set(torch.cuda, "current_device", _zero())
    warnings.warn("mluops.dropin: cuda_calls=True, tensors and modules sent to CUDA stay on the CPU", stacklevel=3)


def uninstall() -> None:
    _done.undo()
    _hint.undo()
