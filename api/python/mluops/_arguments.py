"""Arguments that are not tensors, as the functions of every door take them."""

import functools
from operator import index
from typing import Any, Callable, Sequence, Tuple, TypeVar, Union

from ._errors import BadParamError, bad_param

Size = Union[int, Sequence[int]]
PsaType = Union[int, str]
Function = TypeVar("Function", bound=Callable)

_INT_LIMIT = 1 << 31
_symbolic: tuple = ()


def symbolic(kind: type) -> None:
    """Makes a type of integers known that a graph learns only when it runs (torch.SymInt). The checks let them pass."""
    global _symbolic
    _symbolic = (*_symbolic, kind)


def integer(name: str, value: Any) -> int:
    """A whole number that a C int holds. TypeError for what is none (5.0), BadParamError (a ValueError) beyond."""
    if type(value) is not int:
        if isinstance(value, _symbolic):
            return value
        try:
            value = index(value)
        except TypeError:
            raise TypeError(f"{name}: wanted an integer, got {value!r}") from None
    if not -_INT_LIMIT <= value < _INT_LIMIT:
        raise bad_param(name, "an integer of 32 bits", value)
    return value


def number(name: str, value: Any) -> float:
    """TypeError for what is none ("3", None, an array of several)."""
    try:
        return float("" if isinstance(value, (str, bytes)) else value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name}: wanted a number, got {value!r}") from None


def at_least(least: int, **numbers: int) -> None:
    for name, value in numbers.items():
        if value < least:
            raise bad_param(name, f"at least {least}", value)


def pair(name: str, size: Size, least: int = -_INT_LIMIT) -> Tuple[int, int]:
    """One number for both, or a sequence of two; at least `least`."""
    each = size if isinstance(size, Sequence) and not isinstance(size, str) else (size, size)
    if len(each) != 2:
        raise bad_param(name, "one number or two", size)
    first, second = integer(name, each[0]), integer(name, each[1])
    if first < least or second < least:
        raise bad_param(name, f"at least {least}", size)
    return first, second


def named(name: str, value: Union[int, str], *names: str) -> int:
    """A number from 0 on, given as it is or by its name."""
    known = {given: place for place, each in enumerate(names) for given in (each, place)}
    try:
        return known[value]
    except (KeyError, TypeError):
        *first, last = (f'"{each}" ({place})' for place, each in enumerate(names))
        raise BadParamError.of(f"{name}: wanted {', '.join(first)} or {last}, got {value!r}") from None


def psa_type_number(psa_type: PsaType) -> int:
    """0 for "collect", 1 for "distribute"."""
    return named("psa_type", psa_type, "collect", "distribute")


def renamed(**names: str) -> Callable[[Function], Function]:
    """Lets a function be called by argument names of before: renamed(old="new")."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def accept(*args: Any, **kwargs: Any) -> Any:
            for old in (names.keys() & kwargs.keys() if kwargs else ()):
                if names[old] in kwargs:
                    raise TypeError(f"{function.__name__}() got {names[old]!r} twice: also as {old!r}")
                kwargs[names[old]] = kwargs.pop(old)
            return function(*args, **kwargs)

        return accept  # type: ignore[return-value]

    return decorate
