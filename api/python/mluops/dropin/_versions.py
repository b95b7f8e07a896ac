"""Finds the generation of the importing program: extensions of one name differ between generations."""

import sys


def _major(package: str) -> int:
    version = getattr(sys.modules.get(package), "__version__", None) or "1"
    first = version.split(".")[0]
    return int(first) if first.isdigit() else 1


def mmdet_is_new() -> bool:
    """mmdet 2: classes count from 0, boxes end at x2 and y2."""
    return _major("mmdet") >= 2
