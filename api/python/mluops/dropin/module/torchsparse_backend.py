"""torchsparse.backend: the table of places."""

from .torchsparse import GPUHashTable

__all__ = ["GPUHashTable"]

PACKAGE = "torchsparse"
NAMES = ("torchsparse.backend",)
OF_OUR_PACKAGE = True
