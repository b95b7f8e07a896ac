"""The memory of results."""

import ctypes
import sys
from typing import Any

from torch import Tensor

# A large block is new from the kernel each time, and touching it page by page costs more than most operators; huge
# pages make that several times cheaper. (numpy asks for them the same way.)
_LARGE = 32 << 20  # glibc maps blocks of this size and more afresh
_PAGE = 4096
_MADV_HUGEPAGE = 14


def _find_madvise() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    function = ctypes.CDLL(None).madvise
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int], ctypes.c_int
    return function


_madvise = _find_madvise()


def is_large(size: int) -> bool:
    return size >= _LARGE


def prefer_huge_pages(tensor: Tensor) -> None:
    """Advice only: the kernel may ignore it. The tensor's memory must not have been touched yet."""
    size = tensor.numel() * tensor.element_size()
    if is_large(size) and _madvise is not None:
        begin = -(-tensor.data_ptr() // _PAGE) * _PAGE
        _madvise(begin, tensor.data_ptr() + size - begin, _MADV_HUGEPAGE)
