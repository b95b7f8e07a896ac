"""Finds the library of custom operators for onnxruntime.

    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(mluops.onnxruntime.library())

It has, in the domains mmdeploy, mmcv and mluops, for float, float16 and double: MMCVModulatedDeformConv2d,
MMCVDeformConv2d, MMCVMultiScaleDeformableAttention, MMCVRoiAlign, MMCVRoIAlignRotated, NMSRotated,
SoftNonMaxSuppression, nms, soft_nms, nms_rotated and roi_pool (docs/python.md). onnxruntime 1.16 or later.
"""

import sys
from pathlib import Path

from ._library import path as _path_of_library

__all__ = ["library"]

_NAME = "libmluops_ort.dll" if sys.platform == "win32" else "libmluops_ort.so"


def library() -> str:
    """Its path: beside the library that this package uses. ImportError: it does not exist."""
    if _path_of_library == Path(_path_of_library).name:  # where the loader finds the one, it finds the other
        return _NAME
    found = Path(_path_of_library).resolve().parent / _NAME
    if not found.exists():
        raise ImportError(f"mluops.onnxruntime: wanted {_NAME} beside {_path_of_library}, which does not exist")
    return str(found)
