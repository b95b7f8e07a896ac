"""Calls of a module's functions as programs make them. Numbers may be tensors without axes, as pybind11 takes them.
Errors are in terms of the program: a buffer has the name of that function's argument, and what torch says of a shape is
said with the tensors that were given."""

import functools
import inspect
from types import FunctionType
from typing import Any, Callable, Dict, Tuple

import torch

from .._errors import BadParamError


def _arguments(function: Callable, args: tuple, kwargs: dict) -> Dict[str, Any]:
    """The arguments of a call by name; those of *rest as rest[0] and so on."""
    for follow in (True, False):
        try:
            bound = inspect.signature(function, follow_wrapped=follow).bind(*args, **kwargs).arguments
        except TypeError:
            continue
        found: Dict[str, Any] = {}
        for name, value in bound.items():
            many = value if isinstance(value, tuple) else ()
            found.update({name: value} if not many else {f"{name}[{i}]": each for i, each in enumerate(many)})
        return found
    return {}


def _told(name: str, error: Exception, arguments: Dict[str, Any]) -> Exception:
    """What is raised for an error: the same one where it tells enough."""
    buffer = getattr(error, "buffer", None)
    text = getattr(error, "text", str(error))
    own = next((each for each, value in arguments.items() if value is buffer), None)
    if buffer is not None and own is not None:
        text = own + text[text.index(":"):]
        return BadParamError.of(text) if isinstance(error, BadParamError) else TypeError(text)
    if type(error) not in (RuntimeError, IndexError):
        return error
    tensors = [f"{each} {str(value.dtype).rpartition('.')[2]} {list(value.shape)}" for each, value in arguments.items()
               if isinstance(value, torch.Tensor)]
    return type(error)(f"{name}: {text}; got {', '.join(tensors) or 'no tensors'}")


def _number(value: Any) -> Any:
    """The number in a tensor without axes: sizes are integers, even from a tensor of floats."""
    if not isinstance(value, torch.Tensor) or value.ndim or value.requires_grad:
        return value
    number = value.item()
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _with_numbers(args: tuple, kwargs: dict) -> Tuple[tuple, dict]:
    """Functions whose tensors all lack axes are left alone: they compute with such tensors."""
    tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
    if len({each.ndim > 0 for each in tensors}) < 2:
        return args, kwargs
    return tuple(map(_number, args)), {name: _number(each) for name, each in kwargs.items()}


def telling(name: str, function: Any) -> Any:
    """A function that takes such numbers and raises such errors; classes and values as they are."""
    if not isinstance(function, FunctionType):
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _with_numbers(args, kwargs)
        try:
            return function(*args, **kwargs)
        except (RuntimeError, IndexError, TypeError) as error:
            told = _told(name, error, _arguments(function, args, kwargs))
            if told is error:
                raise
            raise told from error

    call.__signature__ = inspect.signature(function, follow_wrapped=False)  # type: ignore[attr-defined]
    return call
