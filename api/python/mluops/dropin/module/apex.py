"""apex, for programs without a fallback. apex.amp works; names of the other modules raise when they are called."""

from . import apex_amp as amp

__all__ = ["amp"]

PACKAGE = "apex"
NAMES = ("apex",)
UNSERVED = tuple(f"apex.{name}" for name in ("contrib", "fp16_utils", "mlp", "multi_tensor_apply", "normalization",
                                           "optimizers", "parallel", "transformer"))
UNLESS_FALLBACK = True
