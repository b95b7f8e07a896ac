"""Calls made ready.

The first call on tensors of some shapes, strides and dtypes checks them and makes descriptors; of what it hands to C
only the addresses differ in the next one. A plan keeps the rest. Plans live in a context, beside the descriptors they
use.
"""

from ctypes import Array
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor

from .. import _context as c
from .._function import CFunction
from ._eager import NUMBERS
from ._memory import is_large, prefer_huge_pages

_CPU = torch.device("cpu")


class Prepared(NamedTuple):
    """A call that has been made: what C got, and the tensors whose addresses were among it."""

    function: CFunction
    arguments: list
    scalars: Optional[Array]
    # Place among the arguments, and the order in memory to which the tensor was copied for the call, if it was.
    addresses: List[Tuple[int, Tensor, Optional[torch.memory_format]]]


def signature(inputs: tuple) -> Optional[tuple]:
    """The properties of the arguments that decide how a call is made; None if numbers are not in memory."""
    key: list = []
    for value in inputs:
        kind = type(value)
        if kind in NUMBERS:
            key += (kind, value)  # 2.0 is not 2
        elif isinstance(value, Tensor):
            if value.is_neg() or value._is_zerotensor():
                return None
            key += (value.shape, value.stride(), value.dtype, value.is_cpu)
        else:
            key += (kind, tuple(value) if isinstance(value, list) else value)
    return tuple(key)


def stored(inputs: tuple) -> tuple:
    """The inputs with numbers in memory: torch negates some tensors, and makes some of zeros, only when they are read."""
    return tuple(value.clone() if isinstance(value, Tensor) else value for value in inputs)


def distinct(inputs: tuple) -> tuple:
    """The inputs, each tensor an object of its own: one given twice may be two in the next call."""
    return tuple(value.detach() if isinstance(value, Tensor) and _position(value, inputs) != i else value
                 for i, value in enumerate(inputs))


class Plan:
    """A call for inputs of one signature. Its steps in torch, before and after it, are given (outputs, *inputs)."""

    def __init__(self, prepared: Prepared, inputs: list, copied: list, outputs: tuple, places: list,
                 before: Optional[Callable], after: Optional[Callable]) -> None:
        self._before, self._after = before, after
        self._function, self._arguments, self._scalars = prepared.function, prepared.arguments, prepared.scalars
        self._inputs, self._copied = inputs, copied
        self._places = places
        self._outputs = [(tuple(each.shape), each.stride(), each.dtype, is_large(each.numel() * each.element_size()))
                         for each in outputs]

    @classmethod
    def of(cls, prepared: Prepared, inputs: tuple, outputs: tuple, before: Optional[Callable] = None,
           after: Optional[Callable] = None) -> Optional["Plan"]:
        """None if an address belongs to no input or output. `inputs` holds no tensor twice (distinct())."""
        from_inputs, copied, to_outputs = [], [], [None] * len(outputs)
        for place, tensor, order in prepared.addresses:
            where = _position(tensor, inputs)
            if where is not None:
                if order is None:
                    from_inputs.append((place, where))
                else:
                    copied.append((place, where, order))
                continue
            where = _position(tensor, outputs)
            if where is None:
                return None
            to_outputs[where] = place
        return cls(prepared, from_inputs, copied, outputs, to_outputs, before, after)

    def __call__(self, context: c.Context, inputs: tuple) -> Any:
        arguments = self._arguments.copy()
        for place, i in self._inputs:
            arguments[place] = inputs[i].data_ptr()
        copies = []  # kept until the call is over
        for place, i, order in self._copied:
            copies.append(inputs[i].contiguous(memory_format=order))
            arguments[place] = copies[-1].data_ptr()
        made_all = []
        for (shape, stride, dtype, large), place in zip(self._outputs, self._places):
            made = torch.empty_strided(shape, stride, dtype=dtype, device=_CPU)
            if place is not None:
                arguments[place] = made.data_ptr()
            if large:
                prefer_huge_pages(made)
            made_all.append(made)
        outputs = tuple(made_all) if len(made_all) > 1 else made
        if self._before is not None:
            self._before(outputs, *inputs)
        self._function.call(context, arguments, self._scalars)
        if self._after is not None:
            self._after(outputs, *inputs)
        return outputs


def _position(tensor: Tensor, among: tuple) -> Optional[int]:
    return next((i for i, other in enumerate(among) if other is tensor), None)
