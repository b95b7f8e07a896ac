"""Finds the import that requests a module or a name, and whether the program continues without it."""

import ast
import dis
import linecache
import sys
from functools import lru_cache
from types import FrameType
from typing import Iterator, List, Optional

_IMPORTS = ("IMPORT_FROM", "IMPORT_NAME")
_READS = ("LOAD_ATTR", "LOAD_METHOD")
_MISSING_MODULE = {"ImportError", "ModuleNotFoundError"}
_EVERYTHING = {"Exception", "BaseException"}
_EXITS = {"exit", "_exit", "quit", "abort"}


def _instruction(frame: FrameType) -> str:
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]


def while_importing(frame: FrameType) -> bool:
    """Whether an import statement, or the code of a module or class, asks for an attribute in this frame. hasattr() and
    code inside of functions do not."""
    told = _instruction(frame)
    return told in _IMPORTS or told in _READS and not frame.f_code.co_flags & 0x1  # 0x1: a function's code


def _is_machinery(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__") or ""
    return name.startswith("importlib") or name.startswith(__package__ + ".") or "importlib._bootstrap" in \
        frame.f_code.co_filename


def importer(frame: Optional[FrameType]) -> Optional[FrameType]:
    """The frame whose import it is, from one within the machinery of imports."""
    while frame is not None and _is_machinery(frame):
        frame = frame.f_back
    return frame


def _chain(frame: Optional[FrameType]) -> Iterator[FrameType]:
    """The frames of imports that are under way, innermost first: modules, and the function that began."""
    while frame is not None:
        yield frame
        if frame.f_code.co_name != "<module>":
            return
        frame = importer(frame.f_back)


def _names(kind: Optional[ast.expr]) -> set:
    """The exceptions that a handler catches, by name."""
    if kind is None:
        return _EVERYTHING
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return {each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in kinds}


def _gives_up(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    return (call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")) in _EXITS


@lru_cache(maxsize=None)
def _tries(filename: str) -> List[ast.Try]:
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.Try)]


def _guarded(frame: FrameType, caught: set) -> bool:
    """Whether the line at work stands in a try whose handler for one of these exceptions goes on."""
    for node in _tries(frame.f_code.co_filename):
        if node.body[0].lineno <= frame.f_lineno <= max(each.end_lineno for each in node.body):
            if any(_names(handler.type) & caught and not any(map(_gives_up, handler.body))
                   for handler in node.handlers):
                return True
    return False


def has_fallback(frame: Optional[FrameType]) -> bool:
    """Whether the program catches the ImportError of what this frame imports, and goes on. Further out only handlers that
    name ImportError count: others are there for other reasons."""
    frames = list(_chain(importer(frame)))
    return any(_guarded(each, _MISSING_MODULE if i else _MISSING_MODULE | _EVERYTHING)
               for i, each in enumerate(frames))


def probing() -> bool:
    """Whether importlib.util.find_spec() asks, as programs do that look for what is installed."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None and _is_machinery(frame):
        if frame.f_globals.get("__name__") == "importlib.util" and frame.f_code.co_name == "find_spec":
            return True
        frame = frame.f_back
    return False


def asking(depth: int) -> FrameType:
    """The frame so many calls above the caller."""
    return sys._getframe(depth + 1)
