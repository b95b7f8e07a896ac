"""Cambricon's mluOp operators on machines without an MLU.

This module works on numpy arrays; mluops.torch on PyTorch tensors; mluops.mmcv lets mmcv's models use them.
`python -m mluops` tells what is here and what can run.
"""

from . import op as _op
from ._capture import capture
from ._errors import (AllocFailedError, BadParamError, ExecutionFailedError, MluOpError, NotInitializedError,
                      NotSupportedError)
from ._listing import public_names
from ._settings import (backend, backends, last_run_backend, num_threads, options, query, release_memory, set_backend,
                        set_contract, set_deterministic, set_num_threads, set_option, using, version)

__version__ = version()

__all__ = [
    "AllocFailedError", "BadParamError", "ExecutionFailedError", "MluOpError", "NotInitializedError",
    "NotSupportedError", "backend", "backends", "capture", "last_run_backend", "num_threads", "options", "query", "release_memory",
    "set_backend", "set_contract", "set_deterministic", "set_num_threads", "set_option", "using", "version",
    *public_names(_op, globals()),
]
