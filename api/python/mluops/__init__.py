"""Cambricon's mluOp operators on machines without an MLU.

This module works on numpy arrays; mluops.torch on PyTorch tensors; mluops.mmcv lets mmcv's models use them.
"""

from ._errors import (AllocFailedError, BadParamError, ExecutionFailedError, MluOpError, NotInitializedError,
                      NotSupportedError)
from ._numpy import (border_align, border_align_backward, carafe, carafe_backward, deform_roi_pool,
                     deform_roi_pool_backward, psa_mask, psa_mask_backward, three_interpolate,
                     three_interpolate_backward)
from ._settings import (backend, backends, last_run_backend, num_threads, set_backend, set_contract,
                        set_deterministic, set_num_threads, set_option, version)

__version__ = version()

__all__ = [
    "AllocFailedError", "BadParamError", "ExecutionFailedError", "MluOpError", "NotInitializedError",
    "NotSupportedError", "backend", "backends", "border_align", "border_align_backward", "carafe", "carafe_backward",
    "deform_roi_pool", "deform_roi_pool_backward", "last_run_backend", "num_threads", "psa_mask",
    "psa_mask_backward", "set_backend", "set_contract", "set_deterministic", "set_num_threads", "set_option",
    "three_interpolate", "three_interpolate_backward", "version",
]
