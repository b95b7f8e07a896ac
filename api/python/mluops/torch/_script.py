"""torch.jit.script compiles Python source, which the public functions are: it is told to stop there and says why."""

from typing import Any

_WHY = ("mluops: torch.jit.script compiles Python source, and the operators' functions call C through Python; "
        "torch.jit.trace, torch.export and torch.compile work")


def _refuse() -> None:
    raise NotImplementedError(_WHY)


def not_scriptable(public: Any) -> None:
    """Marks a function or the class of a module; older torch asks a function for the text alone."""
    public.__script_unsupported = _WHY
    public.__prepare_scriptable__ = staticmethod(_refuse) if isinstance(public, type) else _refuse
