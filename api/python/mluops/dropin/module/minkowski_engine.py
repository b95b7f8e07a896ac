"""MinkowskiEngine 0.5: sparse tensors, convolutions, pooling, normalization, union and interpolation."""

from .. import _minkowski, _minkowski_modules, _minkowski_tensor
from .._minkowski import *  # noqa: F403
from .._minkowski_modules import *  # noqa: F403
from .._minkowski_tensor import *  # noqa: F403

_MADE = {**_minkowski_modules.LAYERS, **_minkowski_modules.POOLS, **_minkowski_modules.BROADCASTS}
globals().update(_MADE)

_OURS = [name for module in (_minkowski, _minkowski_modules, _minkowski_tensor) for name, value in vars(module).items()
         if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")]
__all__ = sorted({*_OURS, *_MADE, "MinkowskiStableInstanceNorm", "__version__"} - {"Kernel", "Places", "interpolated",
                 "kernel_of", "key_of", "reduced", "union", "BasicBlock", "Bottleneck"})

PACKAGE = "MinkowskiEngine"
NAMES = ("MinkowskiEngine",)

__version__ = "0.5.4"  # whose names these are
