"""The smallest call of each operator, given makers of ones and of int32 zeros: what `python -m mluops` tries."""

from typing import Callable, Dict

from .. import _listing
from . import op
from ._described import SMALLEST


def smallest_calls() -> Dict[str, Callable]:
    """Those that follow from descriptions, and those that modules of op/ name themselves."""
    own = [getattr(module, "SMALLEST", {}) for module in _listing.modules(op)]
    return {**SMALLEST, **{name: call for calls in own for name, call in calls.items()}}
