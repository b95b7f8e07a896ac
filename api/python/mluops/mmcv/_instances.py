"""mmengine's InstanceData takes indices that are tensors of the CPU, CUDA and few other devices; here, of every device.
mmdet's detectors index with what nms keeps."""

import importlib
import importlib.util
from typing import Any, Dict, Tuple, Union

import torch


class _OfAnyDevice(type):
    dtype: torch.dtype

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and value.dtype == cls.dtype


class _Long(metaclass=_OfAnyDevice):
    dtype = torch.int64


class _Bool(metaclass=_OfAnyDevice):
    dtype = torch.bool


def index_types() -> Tuple[Any, Dict[str, Any]]:
    """mmengine's module, None without it, and what its kinds of indices become."""
    if importlib.util.find_spec("mmengine") is None:  # mmcv before 2.0
        return None, {}
    module = importlib.import_module("mmengine.structures.instance_data")
    wider = {"BoolTypeTensor": (_Bool,), "LongTypeTensor": (_Long,), "IndexType": (_Bool, _Long)}
    return module, {name: Union[(getattr(module, name), *kinds)] for name, kinds in wider.items() if hasattr(module, name)}
