"""The functions of mmcv's compiled extension that mluops has, and the methods of mmcv's Python code it replaces,
collected from the files in op/."""

from .. import _listing
from . import op as _op

_MODULES = _listing.modules(_op)

ENTRY_POINTS = {function.__name__: function for module in _MODULES for function in module.ENTRY_POINTS}
METHODS = {key: method for module in _MODULES for key, method in getattr(module, "METHODS", {}).items()}
KEEPS_OWN = {name for module in _MODULES for name in getattr(module, "KEEPS_OWN", ())}
COMPOSED = {function.__name__ for module in _MODULES for function in getattr(module, "COMPOSED", ())}
