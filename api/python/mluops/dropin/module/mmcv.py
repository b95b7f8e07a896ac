"""mmcv.ops, 1.x and 2.x: mluops.mmcv."""

from ... import mmcv as _mmcv

__all__ = ["install", "uninstall"]

PACKAGE = "mmcv"
_by_us = False


def install():
    global _by_us
    _by_us = not _mmcv.installed()
    _mmcv.install()


def uninstall():
    """Undoes install() unless the program called mluops.mmcv.install() itself."""
    if _by_us:
        _mmcv.uninstall()
