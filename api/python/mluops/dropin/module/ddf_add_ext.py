"""ddf_add_ext and ddf_add_faster_ext of ddfnet: filters that are the sum of a channel's and a pixel's."""

from .._ddf import Ddf

__all__ = ["backward", "forward"]

PACKAGE = "ddf"
NAMES = ("ddf_add_ext", "*.ddf_add_ext", "ddf_add_faster_ext", "*.ddf_add_faster_ext")

_ddf = Ddf(lambda channel, pixel: channel + pixel, lambda channel, pixel: (1, 1))
forward, backward = _ddf.forward, _ddf.backward
