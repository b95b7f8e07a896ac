"""torch.mlu.FloatTensor and the others: types for isinstance, and for making tensors as torch.FloatTensor does; and
torch.backends.cnnl and mlu, whose numbers have no effect here."""

from types import SimpleNamespace
from typing import Any, Dict

import torch

_NAMES = ("Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double")


class _TensorType(type):
    dtype: torch.dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, torch.Tensor) and instance.device.type == "mlu" and instance.dtype == cls.dtype


def _make(name: str) -> _TensorType:
    on_cpu = getattr(torch, name)

    def new(cls: _TensorType, *values: Any) -> torch.Tensor:
        return on_cpu(*values).to("mlu")

    return _TensorType(name, (), {"dtype": on_cpu.dtype, "__module__": "torch.mlu", "__new__": new})


TYPES: Dict[str, _TensorType] = {f"{name}Tensor": _make(f"{name}Tensor") for name in _NAMES}


def register_backends() -> None:
    """Programs turn off arithmetic in TF32, which the emulated machine does not have."""
    backends: Any = torch.backends
    backends.cnnl = SimpleNamespace(allow_tf32=False)
    backends.mlu = SimpleNamespace(matmul=SimpleNamespace(allow_tf32=False), custom=SimpleNamespace(allow_tf32=False))
