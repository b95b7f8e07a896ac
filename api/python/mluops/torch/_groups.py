"""Groups of boxes that do not see each other.

Suppression within groups is an operator of its own, so that eager calls and graphs run the same code: what it does
depends on the groups that are in the data. No box is moved to keep groups apart unless that is exact.
"""

from math import ceil, isfinite, log2
from typing import Any, Callable, List, Optional, Tuple

import torch
from torch import Tensor

from .._shapes import expect
from . import _eager
from ._counts import first
from ._operator import no_derivative, no_tangents, operator
from ._tensors import any_empty, check_call, check_device, is_tensor


def group_tensor(name: str, groups: Any, like: Tensor) -> Tensor:
    """Groups [N] of boxes [N, any], in a dtype that tells all of them apart and that torch can sort."""
    expect(name, is_tensor(name, groups).shape, like.shape[:1], ("the number of boxes",))
    if groups.is_complex():
        raise TypeError(f"{name}: wanted integers or real numbers, got {groups.dtype}")
    return groups.to(torch.float64 if groups.is_floating_point() else torch.int64)


def best_first(indices: Tensor, scores: Tensor) -> Tensor:
    """The indices by decreasing score: of equal scores the lowest index first, NaN before every number."""
    ascending = indices.sort()[0]
    order = scores.index_select(0, ascending).sort(stable=True, descending=True)[1]
    return ascending.index_select(0, order)


def split(groups: Tensor) -> Tuple[Tensor, List[Tensor]]:
    """Indices of the boxes that are alone in their group, and those of each other group, ascending."""
    _, number, sizes = groups.unique(return_inverse=True, return_counts=True)
    order = number.sort(stable=True)[1]
    alone = (sizes == 1)[number[order]]
    return order[alone], list(order[~alone].split(sizes[sizes > 1].tolist()))


def _numbers(groups: Tensor) -> Tensor:
    """A small number for each group."""
    if not groups.is_floating_point():
        low, high = map(int, groups.aminmax())
        if high - low < 128:  # as numbers of classes are; larger ones would move boxes further than need be
            return groups - low
    return groups.unique(return_inverse=True)[1]


def apart_exactly(boxes: Tensor, groups: Tensor) -> Optional[Tensor]:
    """Boxes float64 [N, 4], each group moved by more than all boxes reach; None where that rounds a coordinate."""
    low, high = map(float, boxes.aminmax())
    if not isfinite(high - low):
        return None
    step = 2.0 ** ceil(log2(high - low + 2))
    shift = (_numbers(groups).double() * step).unsqueeze(1).expand_as(boxes)
    moved = boxes + shift
    exact = torch.equal(moved - shift, boxes)
    if max(-low, high) > step:  # else boxes are the smaller numbers, or not moved
        exact = exact and torch.equal(moved - boxes, shift)
    return moved if exact else None


def group_operator(schema: str, fake: Callable, kept: Callable) -> Callable:
    """A function whose inputs begin with boxes, scores and groups, and the operator that graphs have in its place.
    kept: (*inputs) -> as `fake` returns them, without the count, their first rows only."""

    def check(name: str, inputs: tuple) -> None:
        check_device(name, inputs)
        check_call(name, inputs[:2])

    def call(outputs: tuple, *inputs: Any) -> None:
        *rooms, count = outputs
        found = kept(*inputs)
        for room, rows in zip(rooms, found):
            room.zero_()[:len(rows)] = rows
        count.fill_(len(found[0]))

    made = operator(schema, fake, call, setup=no_derivative, jvp=no_tangents, check=check)

    def rows(*inputs: Any) -> tuple:
        if _eager.plain(inputs) and not _eager.wants_gradient(inputs) and not any_empty(inputs):
            fake(*inputs)  # checks them
            return kept(*inputs)
        *rooms, count = made(*inputs)
        return first(count, *rooms)

    return rows
