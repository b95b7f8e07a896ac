#!/usr/bin/env python3
"""Writes docs/api.md, the Python reference, from the package's docstrings; --check says whether it is up to date.

Needs the package (PYTHONPATH=api/python and a built library, MLUOPS_LIBRARY), numpy and torch.
"""

import importlib
import inspect
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs/api.md"
MODULES = ("mluops", "mluops.torch", "mluops.mmcv", "mluops.dropin")


def public_names(module) -> list:
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return sorted(name for name in names if callable(getattr(module, name)))


def signature(name: str, value) -> str:
    try:
        parameters = inspect.signature(value)
    except (TypeError, ValueError):  # exceptions of the interpreter's own classes
        return name
    line = f"{name}{parameters}"
    if len(line) <= 110:
        return line
    result = str(parameters).rpartition(" -> ")[2] if " -> " in str(parameters) else "None"
    arguments, named_only = "", False
    for parameter in parameters.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not named_only:
            arguments, named_only = arguments + "    *,\n", True
        arguments += f"    {parameter},\n"
    return f"{name}(\n{arguments}) -> {result}"


def entry(name: str, value) -> str:
    text = inspect.getdoc(value) or ""
    if inspect.isclass(value) and value.__init__.__doc__ and "__init__" in vars(value):
        text += "\n\n" + inspect.cleandoc(value.__init__.__doc__)
    heading = "class " if inspect.isclass(value) else ""
    return f"### {heading}`{name}`\n\n```text\n{signature(name, value)}\n\n{text}\n```\n"


def page() -> str:
    parts = ["# Python reference\n", "Written by `cmake/write-api.py` from the docstrings; [python.md](python.md) is the guide.\n"]
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        parts += [f"## {module_name}\n", f"{inspect.getdoc(module)}\n"]
        parts += [entry(name, getattr(module, name)) for name in public_names(module)]
    return "\n".join(parts)


def main() -> None:
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        raise SystemExit("docs/api.md is not what the docstrings say: run cmake/write-api.py")


if __name__ == "__main__":
    main()
