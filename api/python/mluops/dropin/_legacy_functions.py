"""Calls of autograd functions whose forward is a method, as programs of before torch 1.5 have them:
`F(sizes)(x, y)` with `def forward(self, x, y)`. torch has removed the call; install(old_names=True) brings it back."""

from typing import Any

from torch.autograd import Function
from torch.autograd.function import once_differentiable

from .._replacing import Replacements

_done = Replacements()
_OF_CONTEXT = ("mark_dirty", "mark_non_differentiable", "save_for_backward", "saved_tensors", "set_materialize_grads")


class _Self:
    """What its methods see of an instance: its attributes, with what torch keeps of the call."""

    def __init__(self, instance: Function, context: Any) -> None:
        vars(self).update(_instance=instance, _context=context)

    def __getattr__(self, name: str) -> Any:
        if name == "needs_input_grad":
            return self._context.needs_input_grad[1:]  # the first is the instance
        if name == "saved_variables":
            return self._context.saved_tensors
        return getattr(self._context if name in _OF_CONTEXT else self._instance, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._instance, name, value)


class _Call(Function):
    @staticmethod
    def forward(ctx: Any, instance: Function, *args: Any) -> Any:  # type: ignore[override]
        ctx.instance = instance
        return type(instance).forward(_Self(instance, ctx), *args)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        made = type(ctx.instance).backward(_Self(ctx.instance, ctx), *grads)
        return None, *(made if isinstance(made, (tuple, list)) else (made,))


def _call(self: Function, *args: Any) -> Any:
    if isinstance(vars(type(self)).get("forward"), staticmethod):
        return type(self).apply(*args)
    return _Call.apply(self, *args)


def install() -> None:
    if not _done:
        _done.set(Function, "__call__", _call)


def uninstall() -> None:
    _done.undo()
