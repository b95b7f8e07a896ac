"""spconv.pytorch, spconv 2, and the modules it gathers."""

from .. import _spconv, _spconv_pool
from .._spconv import *  # noqa: F403
from .._spconv_pool import *  # noqa: F403

__all__ = [name for module in (_spconv, _spconv_pool) for name, value in vars(module).items()
           if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")]

PACKAGE = "spconv"
NAMES = ("spconv.pytorch", "spconv.pytorch.conv", "spconv.pytorch.core", "spconv.pytorch.functional",
         "spconv.pytorch.identity", "spconv.pytorch.modules", "spconv.pytorch.pool", "spconv.pytorch.tables")
OF_OUR_PACKAGE = True
