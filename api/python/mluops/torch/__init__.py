"""The operators on PyTorch CPU tensors: functions, and modules with mmcv's names and arguments.

Works with every torch: torch.library operators (torch.ops.mluops.*) from 2.4 on, autograd functions before. Thread
count and determinism are torch's own (torch.set_num_threads, torch.use_deterministic_algorithms). Tensors of other devices
are served by way of the CPU (cpu_fallback).

Wrong arguments raise BadParamError (a ValueError and a RuntimeError) or TypeError, naming the argument, what was wanted
and what was got. A new operator is one new file in op/, whose docstring tells how.
"""

import sys as _sys

from .. import _listing

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError("mluops.torch needs PyTorch, which is not installed: pip install 'mluops[torch]', or the torch "
                              "you want", name="torch") from None

from . import op as _op
from .._devices import cpu_fallback
from ._script import not_scriptable as _not_scriptable
from ._script import one_node as _one_node

__all__ = ["cpu_fallback", *_listing.public_names(_op, globals())]
for _name in __all__:
    _not_scriptable(globals()[_name])
_one_node(__all__, [_sys.modules[__name__], *_listing.modules(_op)])
