"""Results whose size is in the data: operators return as many rows as there may be, and how many there are."""

from typing import Tuple

import torch
from torch import Tensor

from . import _eager
from ._operator import HAS_LIBRARY_API, define

_MOST = (1 << 31) - 1


def _numbers(count: Tensor) -> Tensor:
    return torch.arange(int(count), device=count.device)


def _numbers_fake(count: Tensor) -> Tensor:
    size = torch.library.get_ctx().new_dynamic_size(min=0, max=_MOST)
    return count.new_empty((size,), dtype=torch.int64)


if HAS_LIBRARY_API:
    define("first_numbers(Tensor count) -> Tensor", _numbers, _numbers_fake)


def first(count: Tensor, *tensors: Tensor) -> Tuple[Tensor, ...]:
    """The first rows of each tensor, as many as `count` [1] says. A compiled, exported or traced graph has a size for
    that which it learns when it runs."""
    if count.is_meta:
        raise NotImplementedError("mluops: how many rows the result has is in the data, which tensors on meta lack")
    if _eager.recording() or type(count) is not Tensor:
        numbers = torch.ops.mluops.first_numbers(count)
        return tuple(tensor.index_select(0, numbers) for tensor in tensors)
    size = int(count)
    return tuple([tensor[:size] for tensor in tensors])  # faster than from a generator
