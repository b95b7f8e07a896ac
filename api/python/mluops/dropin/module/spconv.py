"""spconv: of version 2 what the package itself has, its modules are in spconv.pytorch; of version 1 the modules, whose
weights are (k, k, k, C_in, C_out)."""

from ...torch.op import sparse_modules as _version_1
from ...torch.op.sparse_modules import *  # noqa: F403
from .. import _spconv_1
from .._spconv import AlgoHint, ConvAlgo

__all__ = sorted({*_version_1.__all__, "AlgoHint", "ConvAlgo", "SPCONV_VERSION_NUMBERS", "__version__"})
globals().update(_spconv_1.CHANGED)

PACKAGE = "spconv"
NAMES = ("spconv", "spconv.core", "spconv.modules", "spconv.conv", "spconv.pool")
UNSERVED = tuple(f"spconv.{name}" for name in (
    "algo", "algocore", "benchmark", "build", "core_cc", "core_cc.csrc", "core_cc.csrc.sparse", "core_cc.csrc.sparse.all",
    "cppconstants", "debug_utils", "gencode", "pytorch.constants", "pytorch.cppcore", "pytorch.hash",
    "pytorch.quantization", "pytorch.quantization.core", "pytorch.quantization.fake_q", "pytorch.quantization.intrinsic",
    "pytorch.quantization.utils", "test_utils", "tools"))

SPCONV_VERSION_NUMBERS = [2, 3, 8]  # whose modules these are
__version__ = "2.3.8"
