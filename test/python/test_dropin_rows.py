"""Every row of docs/dropin.md: all that the programs import is there, and takes the arguments that they pass."""

import importlib
import importlib.util
import inspect
import sys
import types

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import EVERY_DOOR, opened  # noqa: E402
from dropin_rows import ROWS  # noqa: E402


@pytest.fixture
def doors(monkeypatch):
    with opened(*EVERY_DOOR):
        yield


def packages_of(module):
    """The packages that a module is in, which the program has; apex is wholly ours."""
    parts = module.split(".")[:-1]
    return [] if parts[:1] == ["apex"] else [".".join(parts[:i + 1]) for i in range(len(parts))]


def is_there(package):
    """Not a folder beside the tests that has the name and no __init__.py."""
    spec = importlib.util.find_spec(package)
    return spec is not None and (spec.origin is not None or type(spec.loader).__module__.startswith("mluops"))


def brought(module, monkeypatch):
    for package in packages_of(module):
        if package not in sys.modules and not is_there(package):
            made = types.ModuleType(package)
            made.__path__ = []
            monkeypatch.setitem(sys.modules, package, made)
    return importlib.import_module(module)


def imported(module, name):
    """By an import statement, as programs do."""
    found = {}
    exec(f"from {module} import {name}", found)
    return found[name]


def takes(function, count):
    """functools.wraps tells the signature of what it wraps, calls go to the wrapper."""
    try:
        inspect.signature(function, follow_wrapped=False).bind(*range(count))
    except TypeError:
        return False
    return True


CALLS = [(row, module) for row, modules in ROWS.items() for module in modules]


@pytest.mark.parametrize("row, module", CALLS, ids=[f"{row}: {module}" for row, module in CALLS])
def test_a_program_finds_all_that_it_imports(doors, monkeypatch, row, module):
    made = brought(module, monkeypatch)
    for entry in ROWS[row][module].split():
        name, *counts = entry.lstrip("-").split("/")
        function = imported(module, name)
        if entry.startswith("-"):
            with pytest.raises(NotImplementedError, match=f"no {name}"):
                function(*range(int(counts[0]) if counts else 0))
            continue
        assert function is getattr(made, name)
        wrong = [count for count in counts if not takes(function, int(count))]
        assert not wrong, f"{module}.{name}{inspect.signature(function)} is called with {wrong} arguments"
