"""Device mlu of torch: what torch.mlu is once `torch_mlu` was imported after mluops.dropin.install("torch_mlu").

Tensors lie in memory of the emulated machine, where kernels in BANG C reach them (cpp_extension.load_inline); every
operator of torch runs on them on the CPU, and copies what it needs. Importing this package makes the device.
"""

import ctypes
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import torch

from . import _glue, _tensor_types
from ._streams import Event, Stream, StreamContext, current_stream, default_stream, set_stream, stream

__all__ = [
    "Event", "Stream", "StreamContext", "can_device_access_peer", "current_device", "current_stream", "default_stream",
    "device", "device_count", "device_of", "empty_cache", "get_amp_supported_dtype", "get_arch_list",
    "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state", "get_rng_state_all", "init",
    "initial_seed", "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved",
    "memory_stats", "memory_summary", "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_rng_state",
    "set_stream", "stream", "synchronize",
]

_NAME = "mlu"


def _make() -> ctypes.CDLL:
    taken = torch._C._get_privateuse1_backend_name()
    if taken not in ("privateuseone", _NAME):
        raise ImportError(f"torch's one place for further devices is taken by {taken!r}: device mlu has none here")
    library = _glue.load()
    from . import _operators
    _operators.register()
    return library


_library = _make()


class DeviceProperties(NamedTuple):
    name: str
    total_memory: int
    cluster_count: int
    core_num_per_cluster: int
    isa_version: int

    @property
    def major(self) -> int:
        return self.isa_version // 100

    @property
    def minor(self) -> int:
        return 0

    @property
    def multi_processor_count(self) -> int:
        return self.cluster_count * self.core_num_per_cluster


def _index(device: Any) -> int:
    """The device's number; raises for what is no device here."""
    index = torch.device(_NAME, device).index if isinstance(device, int) else torch.device(device or _NAME).index
    if index not in (None, 0):
        raise RuntimeError(f"mlu:{index}: the emulated machine is one device, mlu:0")
    return 0


def is_available() -> bool:
    return True


def init() -> None:
    """There is nothing left to do."""


def is_initialized() -> bool:
    return True


def _is_in_bad_fork() -> bool:
    """In a process that was forked after kernels had run: it cannot launch any."""
    return bool(_library.cnrtExtIsInBadFork())


def device_count() -> int:
    return 1


def current_device() -> int:
    return 0


def set_device(device: Any) -> None:
    _index(device)


class device:
    """with torch.mlu.device(0): the one device there is."""

    def __init__(self, device: Any) -> None:
        self.idx = _index(device)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: Any) -> None:
        return None


class device_of(device):
    def __init__(self, obj: torch.Tensor) -> None:
        super().__init__(0)


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    return False


def synchronize(device: Any = None) -> None:
    """Raises what a kernel did that the device would not bear: work itself is done when it is launched."""
    _index(device)
    current_stream().synchronize()


def get_device_properties(device: Any = None) -> DeviceProperties:
    _index(device)
    name, numbers = ctypes.create_string_buffer(256), (ctypes.c_int64 * 4)()
    _library.mluops_torch_properties(name, len(name), numbers)
    clusters, cores, isa, memory = numbers
    return DeviceProperties(name.value.decode(), memory, clusters, cores, isa)


def get_device_name(device: Any = None) -> str:
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> Tuple[int, int]:
    properties = get_device_properties(device)
    return properties.major, properties.minor


def get_arch_list() -> List[str]:
    return ["compute_30", "compute_50"]


# ---- memory: each tensor has its block, nothing is kept ----


def memory_allocated(device: Any = None) -> int:
    _index(device)
    return _library.mluops_torch_memory_allocated()


def max_memory_allocated(device: Any = None) -> int:
    _index(device)
    return _library.mluops_torch_max_memory_allocated()


memory_reserved, max_memory_reserved = memory_allocated, max_memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    _index(device)
    _library.mluops_torch_reset_peak_memory()


def empty_cache() -> None:
    """Does nothing: no memory is cached."""


def memory_stats(device: Any = None) -> Dict[str, int]:
    return {"allocated_bytes.all.current": memory_allocated(device),
            "allocated_bytes.all.peak": max_memory_allocated(device)}


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    return f"mlu:0: {memory_allocated(device)} bytes allocated, at most {max_memory_allocated(device)}"


def mem_get_info(device: Any = None) -> Tuple[int, int]:
    total = get_device_properties(device).total_memory
    return max(0, total - memory_allocated(device)), total


# ---- random numbers: the CPU's, as operators that make them run there ----


def manual_seed(seed: int) -> None:
    torch.default_generator.manual_seed(seed)


manual_seed_all = manual_seed


def seed() -> None:
    torch.default_generator.seed()


seed_all = seed


def initial_seed() -> int:
    return torch.default_generator.initial_seed()


def get_rng_state(device: Any = None) -> torch.Tensor:
    return torch.default_generator.get_state()


def get_rng_state_all() -> List[torch.Tensor]:
    return [get_rng_state()]


def set_rng_state(new_state: torch.Tensor, device: Optional[Any] = None) -> None:
    torch.default_generator.set_state(new_state)


def get_amp_supported_dtype() -> List[torch.dtype]:
    return [torch.float16, torch.bfloat16]


def is_bf16_supported() -> bool:
    return True


def _register() -> None:
    import sys
    if torch._C._get_privateuse1_backend_name() != _NAME:
        torch.utils.rename_privateuse1_backend(_NAME)
    if not hasattr(torch, _NAME):
        torch._register_device_module(_NAME, sys.modules[__name__])
    torch.is_mlu_available = is_available  # asked by older programs
    globals().update(_tensor_types.TYPES)
    _tensor_types.register_backends()
    if not hasattr(torch.Tensor, f"is_{_NAME}"):
        torch.utils.generate_methods_for_privateuse1_backend(unsupported_dtype=[torch.quint8, torch.quint4x2,
                                                                                torch.quint2x4, torch.qint8, torch.qint32])


_register()
