"""MinkowskiEngine.modules.resnet_block."""

from .._minkowski_modules import BasicBlock, Bottleneck

__all__ = ["BasicBlock", "Bottleneck"]

PACKAGE = "MinkowskiEngine"
NAMES = ("MinkowskiEngine.modules", "MinkowskiEngine.modules.resnet_block")
OF_OUR_PACKAGE = True
