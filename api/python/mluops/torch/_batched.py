"""Batched gradients of torch.autograd (is_grads_batched, torch.autograd.functional with vectorize=True, gradcheck): its
own vmap, older than torch.func's, hands derivatives a tensor for many. They are computed one by one.

torch.func's vmap does not come here: autograd.Function and torch.library have a rule of theirs for it (_operator.py).
"""

from typing import Any, Callable, List

import torch
from torch import Tensor


def _level() -> int:
    """How many of these vmaps are at work in this thread; torch tells only who goes a level deeper."""
    if not hasattr(torch._C, "_vmapmode_increment_nesting"):
        return 0
    level = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    return level


def _spread(value: Any, level: int) -> Any:
    """The tensor with the dimension of the vmap at `level` first; 1 long if the tensor is not batched there."""
    return torch._remove_batch_dim(value, level, 1, 0) if isinstance(value, Tensor) else value


def _together(parts: List[Any], level: int) -> Any:
    if not isinstance(parts[0], Tensor):
        return parts[0]
    return torch._add_batch_dim(torch.stack(parts), 0, level)


def one_by_one(derivative: Callable) -> Callable:
    """A backward or jvp (ctx, *tensors) -> tensor, None or a tuple of them, that takes tensors standing for many."""

    def derive(ctx: Any, *given: Any) -> Any:
        level = _level()
        if level == 0:
            return derivative(ctx, *given)
        spread = [_spread(value, level) for value in given]
        count = max((len(value) for value in spread if isinstance(value, Tensor)), default=1)
        each = [derive_within(ctx, *(value[i % len(value)] if isinstance(value, Tensor) else value for value in spread))
                for i in range(count)]
        if count == 1:
            return each[0]
        if isinstance(each[0], tuple):
            return tuple(_together(list(parts), level) for parts in zip(*each))
        return _together(each, level)

    def derive_within(ctx: Any, *given: Any) -> Any:
        """In the vmaps around the innermost."""
        torch._C._vmapmode_decrement_nesting()
        try:
            return derive(ctx, *given)
        finally:
            torch._C._vmapmode_increment_nesting()

    return derive
