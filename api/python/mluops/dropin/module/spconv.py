"""spconv 2, the package; its modules are in spconv.pytorch."""

from .._spconv import ConvAlgo

__all__ = ["ConvAlgo", "SPCONV_VERSION_NUMBERS", "__version__"]

PACKAGE = "spconv"
NAMES = ("spconv",)

SPCONV_VERSION_NUMBERS = [2, 3, 8]  # whose modules these are
__version__ = "2.3.8"
