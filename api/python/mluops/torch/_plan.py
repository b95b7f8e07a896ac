"""Calls made ready.

The first call on tensors of some shapes, strides and dtypes checks them and makes descriptors; of what it hands to C
only the addresses differ in the next one. A plan keeps the rest. Plans live in a context, beside the descriptors they
use, and know nothing of a call whose tensors had to be converted.
"""

from ctypes import Array
from typing import List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor

from .. import _context as c
from .._function import CFunction
from ._memory import is_large, prefer_huge_pages

_CPU = torch.device("cpu")


class Prepared(NamedTuple):
    """A call that has been made: what C got, and the tensors whose addresses were among it."""

    function: CFunction
    arguments: list
    scalars: Optional[Array]
    addresses: List[Tuple[int, Tensor]]  # place among the arguments


def signature(inputs: tuple) -> tuple:
    """What decides how a call is made."""
    key: list = []
    for value in inputs:
        if isinstance(value, Tensor):
            key += (value.shape, value.stride(), value.dtype, value.is_cpu)
        else:
            key += (type(value), tuple(value) if isinstance(value, list) else value)  # 2.0 is not 2
    return tuple(key)


class Plan:
    """A call for inputs of one signature."""

    def __init__(self, prepared: Prepared, inputs: List[Tuple[int, int]], outputs: tuple, places: list) -> None:
        self._function, self._arguments, self._scalars = prepared.function, prepared.arguments, prepared.scalars
        self._inputs = inputs
        self._places = places
        self._outputs = [(tuple(each.shape), each.stride(), each.dtype, is_large(each.numel() * each.element_size()))
                         for each in outputs]

    @classmethod
    def of(cls, prepared: Prepared, inputs: tuple, outputs: tuple) -> Optional["Plan"]:
        """None where an address was not that of an input or output, or one tensor was two inputs, which in the next call
        may be two."""
        if any(given is other for i, given in enumerate(inputs) if isinstance(given, Tensor) for other in inputs[:i]):
            return None
        from_inputs, to_outputs = [], [None] * len(outputs)
        for place, tensor in prepared.addresses:
            where = _position(tensor, inputs)
            if where is not None:
                from_inputs.append((place, where))
                continue
            where = _position(tensor, outputs)
            if where is None:
                return None
            to_outputs[where] = place
        return cls(prepared, from_inputs, outputs, to_outputs)

    def __call__(self, context: c.Context, inputs: tuple) -> tuple:
        arguments = self._arguments.copy()
        for place, i in self._inputs:
            arguments[place] = inputs[i].data_ptr()
        outputs = []
        for (shape, stride, dtype, large), place in zip(self._outputs, self._places):
            made = torch.empty_strided(shape, stride, dtype=dtype, device=_CPU)
            if place is not None:
                arguments[place] = made.data_ptr()
            if large:
                prefer_huge_pages(made)
            outputs.append(made)
        self._function.call(context, arguments, self._scalars)
        return tuple(outputs)


def _position(tensor: Tensor, among: tuple) -> Optional[int]:
    return next((i for i, other in enumerate(among) if other is tensor), None)
