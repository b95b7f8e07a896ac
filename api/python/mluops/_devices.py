"""The devices whose tensors are computed on the CPU, and whether calls warn about it."""

import os
from typing import Optional


class _Settings:
    cuda = False
    warn = os.environ.get("MLUOPS_FALLBACK_WARNING", "1") != "0"


def cpu_fallback(*, cuda: Optional[bool] = None, warn: Optional[bool] = None) -> None:
    """Sets what happens to tensors that are not on the CPU.

    Args:
        cuda: whether operators also serve tensors on cuda devices, by way of the CPU. At first they refuse them.
        warn: whether the first such call of each operator warns. At first it does, unless the environment variable
            MLUOPS_FALLBACK_WARNING is 0.
    Arguments left out stay as they are. Tensors on any other device (mps, xpu, a PrivateUse1 device) are always served.
    """
    if cuda is not None:
        _Settings.cuda = bool(cuda)
    if warn is not None:
        _Settings.warn = bool(warn)


def serves(device_type: str) -> bool:
    """Whether an operator takes tensors of such a device."""
    return device_type != "cuda" or _Settings.cuda


def warns() -> bool:
    """Whether the first call of an operator for tensors of another device warns."""
    return _Settings.warn
