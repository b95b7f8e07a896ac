"""How the public functions look to what reads or records Python code: torch.jit.script, which compiles source, is told to
stop there and says why; torch.fx.symbolic_trace records a call of one as one node."""

from types import FunctionType, ModuleType
from typing import Any, Iterable

import torch.fx

_WHY = ("mluops: torch.jit.script compiles Python source, and the operators' functions call C through Python; "
        "torch.jit.trace, torch.export and torch.compile work")


def _refuse() -> None:
    raise NotImplementedError(_WHY)


def not_scriptable(public: Any) -> None:
    """Marks a function or the class of a module; older torch asks a function for the text alone."""
    public.__script_unsupported = _WHY
    public.__prepare_scriptable__ = staticmethod(_refuse) if isinstance(public, type) else _refuse


def one_node(names: Iterable[str], modules: Iterable[ModuleType]) -> None:
    """Tells torch.fx of the public functions wherever these modules call them. torch.fx.wrap takes the names of the
    module whose code calls it, at its top level."""
    code = compile("wrap(name)", __file__, "exec")
    for module in modules:
        for name in names:
            if isinstance(vars(module).get(name), FunctionType):
                exec(code, vars(module), {"wrap": torch.fx.wrap, "name": name})
