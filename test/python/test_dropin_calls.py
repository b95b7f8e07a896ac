"""docs/dropin.md's table of packages, row by row: each is installed by the line that the page tells, and one of its operators or
more, imported as the program imports it, gives what plain torch gives."""

import re
import warnings
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import dropin_calls_more  # noqa: E402,F401
import dropin_calls_points  # noqa: E402,F401
import mluops.dropin as dropin  # noqa: E402
from dropin_calls import CALLS, ELSEWHERE  # noqa: E402
from mluops.dropin._naming import plain  # noqa: E402
from test_dropin_rows import brought  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs/dropin.md"
NOT_AT_ONCE = ("mmcv", "torchvision", "torch_mlu")  # they change packages of this environment


def rows():
    """The table's rows: the program, the line and the modules."""
    table = PAGE.read_text().split("## Supported packages")[1].split("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return {program: (line, modules) for program, line, modules in
            ([cell.strip() for cell in each.strip("|").split("|")] for each in lines)}


ROWS = rows() if PAGE.exists() else {}


def install(line):
    """What a row tells to write, without the packages that are only for their own rows."""
    def call(*names, **given):
        dropin.install(*(names or [name for name in dropin.names() if name not in NOT_AT_ONCE]), **given)

    eval(re.search(r"`(install\(.*?\))`", line).group(1), {"install": call})


@pytest.fixture
def bring(monkeypatch):
    """Imports a module of a program, whose packages exist; remembers its name."""
    from torch.utils import cpp_extension
    monkeypatch.setattr(cpp_extension, "CUDA_HOME", None)
    names = []

    def one(name):
        names.append(name)
        return brought(name, monkeypatch)

    one.names = names
    yield one
    dropin.uninstall()


def near(found, wanted):
    assert tuple(found.shape) == tuple(wanted.shape)
    assert wanted.abs().max() > 0  # or else it says nothing
    if not wanted.is_floating_point():
        assert torch.equal(found.long(), wanted.long())
        return
    limit = (1e-5 if found.dtype == torch.float32 else 1e-9) * max(1.0, wanted.abs().max().item())
    assert (found.double() - wanted.double()).abs().max() <= limit


def is_named(module, program, modules):
    """Whether a row names a module, maybe with another ending."""
    last = module.rpartition(".")[2]
    names = [*re.findall(r"`([^`]+)`", modules), *re.findall(r"\w+", program)]
    return any(fnmatchcase(module, name) or fnmatchcase(last, name) or plain(last) == plain(name) for name in names)


def test_each_row_has_a_call():
    assert ROWS, "no table in docs/dropin.md"
    assert sorted(ROWS) == sorted({**CALLS, **ELSEWHERE})
    assert all((Path(__file__).parent / file).exists() for file in ELSEWHERE.values())


@pytest.mark.parametrize("program", sorted(CALLS))
def test_a_row_is_true(bring, program):
    line, modules = ROWS[program]
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        install(line)
        pairs = list(CALLS[program](bring))
    assert pairs and all(is_named(name, program, modules) for name in bring.names)
    for found, wanted in pairs:
        near(found, wanted)
