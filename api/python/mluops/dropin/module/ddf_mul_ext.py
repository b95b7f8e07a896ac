"""ddf_mul_ext and ddf_mul_faster_ext of ddfnet: filters that are a channel's times a pixel's."""

from .._ddf import Ddf

__all__ = ["backward", "forward"]

PACKAGE = "ddf"
NAMES = ("ddf_mul_ext", "*.ddf_mul_ext", "ddf_mul_faster_ext", "*.ddf_mul_faster_ext")

_ddf = Ddf(lambda channel, pixel: channel * pixel, lambda channel, pixel: (pixel, channel))
forward, backward = _ddf.forward, _ddf.backward
